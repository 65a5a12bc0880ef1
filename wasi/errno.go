//go:build linux

package wasi

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// errno is an error number of WASI. It is an error, so that functions can
// return it beside the errors that end a guest; zero is never returned as one.
type errno uint16

// The numbers of witx type errno, in its order.
const (
	errnoSuccess errno = iota
	errno2Big
	errnoAcces
	errnoAddrInUse
	errnoAddrNotAvail
	errnoAFNoSupport
	errnoAgain
	errnoAlready
	errnoBadF
	errnoBadMsg
	errnoBusy
	errnoCanceled
	errnoChild
	errnoConnAborted
	errnoConnRefused
	errnoConnReset
	errnoDeadlk
	errnoDestAddrReq
	errnoDom
	errnoDQuot
	errnoExist
	errnoFault
	errnoFBig
	errnoHostUnreach
	errnoIDRm
	errnoIlseq
	errnoInProgress
	errnoIntr
	errnoInval
	errnoIO
	errnoIsConn
	errnoIsDir
	errnoLoop
	errnoMFile
	errnoMLink
	errnoMsgSize
	errnoMultihop
	errnoNameTooLong
	errnoNetDown
	errnoNetReset
	errnoNetUnreach
	errnoNFile
	errnoNoBufs
	errnoNoDev
	errnoNoEnt
	errnoNoExec
	errnoNoLck
	errnoNoLink
	errnoNoMem
	errnoNoMsg
	errnoNoProtoOpt
	errnoNoSpc
	errnoNoSys
	errnoNotConn
	errnoNotDir
	errnoNotEmpty
	errnoNotRecoverable
	errnoNotSock
	errnoNotSup
	errnoNoTTY
	errnoNXIO
	errnoOverflow
	errnoOwnerDead
	errnoPerm
	errnoPipe
	errnoProto
	errnoProtoNoSupport
	errnoPrototype
	errnoRange
	errnoROFS
	errnoSPipe
	errnoSrch
	errnoStale
	errnoTimedOut
	errnoTxtBsy
	errnoXDev
	errnoNotCapable
)

// hostErrnos pairs the host's error numbers with WASI's, in WASI's order.
// ENOTCAPABLE exists only in WASI.
var hostErrnos = [...]unix.Errno{
	errno2Big:           unix.E2BIG,
	errnoAcces:          unix.EACCES,
	errnoAddrInUse:      unix.EADDRINUSE,
	errnoAddrNotAvail:   unix.EADDRNOTAVAIL,
	errnoAFNoSupport:    unix.EAFNOSUPPORT,
	errnoAgain:          unix.EAGAIN,
	errnoAlready:        unix.EALREADY,
	errnoBadF:           unix.EBADF,
	errnoBadMsg:         unix.EBADMSG,
	errnoBusy:           unix.EBUSY,
	errnoCanceled:       unix.ECANCELED,
	errnoChild:          unix.ECHILD,
	errnoConnAborted:    unix.ECONNABORTED,
	errnoConnRefused:    unix.ECONNREFUSED,
	errnoConnReset:      unix.ECONNRESET,
	errnoDeadlk:         unix.EDEADLK,
	errnoDestAddrReq:    unix.EDESTADDRREQ,
	errnoDom:            unix.EDOM,
	errnoDQuot:          unix.EDQUOT,
	errnoExist:          unix.EEXIST,
	errnoFault:          unix.EFAULT,
	errnoFBig:           unix.EFBIG,
	errnoHostUnreach:    unix.EHOSTUNREACH,
	errnoIDRm:           unix.EIDRM,
	errnoIlseq:          unix.EILSEQ,
	errnoInProgress:     unix.EINPROGRESS,
	errnoIntr:           unix.EINTR,
	errnoInval:          unix.EINVAL,
	errnoIO:             unix.EIO,
	errnoIsConn:         unix.EISCONN,
	errnoIsDir:          unix.EISDIR,
	errnoLoop:           unix.ELOOP,
	errnoMFile:          unix.EMFILE,
	errnoMLink:          unix.EMLINK,
	errnoMsgSize:        unix.EMSGSIZE,
	errnoMultihop:       unix.EMULTIHOP,
	errnoNameTooLong:    unix.ENAMETOOLONG,
	errnoNetDown:        unix.ENETDOWN,
	errnoNetReset:       unix.ENETRESET,
	errnoNetUnreach:     unix.ENETUNREACH,
	errnoNFile:          unix.ENFILE,
	errnoNoBufs:         unix.ENOBUFS,
	errnoNoDev:          unix.ENODEV,
	errnoNoEnt:          unix.ENOENT,
	errnoNoExec:         unix.ENOEXEC,
	errnoNoLck:          unix.ENOLCK,
	errnoNoLink:         unix.ENOLINK,
	errnoNoMem:          unix.ENOMEM,
	errnoNoMsg:          unix.ENOMSG,
	errnoNoProtoOpt:     unix.ENOPROTOOPT,
	errnoNoSpc:          unix.ENOSPC,
	errnoNoSys:          unix.ENOSYS,
	errnoNotConn:        unix.ENOTCONN,
	errnoNotDir:         unix.ENOTDIR,
	errnoNotEmpty:       unix.ENOTEMPTY,
	errnoNotRecoverable: unix.ENOTRECOVERABLE,
	errnoNotSock:        unix.ENOTSOCK,
	errnoNotSup:         unix.ENOTSUP,
	errnoNoTTY:          unix.ENOTTY,
	errnoNXIO:           unix.ENXIO,
	errnoOverflow:       unix.EOVERFLOW,
	errnoOwnerDead:      unix.EOWNERDEAD,
	errnoPerm:           unix.EPERM,
	errnoPipe:           unix.EPIPE,
	errnoProto:          unix.EPROTO,
	errnoProtoNoSupport: unix.EPROTONOSUPPORT,
	errnoPrototype:      unix.EPROTOTYPE,
	errnoRange:          unix.ERANGE,
	errnoROFS:           unix.EROFS,
	errnoSPipe:          unix.ESPIPE,
	errnoSrch:           unix.ESRCH,
	errnoStale:          unix.ESTALE,
	errnoTimedOut:       unix.ETIMEDOUT,
	errnoTxtBsy:         unix.ETXTBSY,
	errnoXDev:           unix.EXDEV,
}

var fromHost = func() map[unix.Errno]errno {
	m := make(map[unix.Errno]errno, len(hostErrnos))
	for w, h := range hostErrnos {
		if h != 0 {
			m[h] = errno(w)
		}
	}
	return m
}()

func (e errno) Error() string {
	switch {
	case e == errnoNotCapable:
		return "WASI: capabilities insufficient"
	case int(e) < len(hostErrnos):
		return "WASI: " + hostErrnos[e].Error()
	}
	return "WASI: unknown error number"
}

// toErrno finds the error number for a failed host operation; what has none
// is an input/output error.
func toErrno(err error) errno {
	var e errno
	if errors.As(err, &e) {
		return e
	}
	var h syscall.Errno
	if errors.As(err, &h) {
		if w, ok := fromHost[h]; ok {
			return w
		}
		return errnoIO
	}
	switch {
	case errors.Is(err, fs.ErrClosed):
		return errnoBadF
	case errors.Is(err, fs.ErrPermission):
		return errnoAcces
	case errors.Is(err, fs.ErrNotExist):
		return errnoNoEnt
	}
	return errnoIO
}
