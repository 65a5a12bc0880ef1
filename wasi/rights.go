//go:build linux

package wasi

// rights is a set of operations that a descriptor allows (witx type rights).
type rights uint64

const (
	rightFdDatasync rights = 1 << iota
	rightFdRead
	rightFdSeek
	rightFdFdstatSetFlags
	rightFdSync
	rightFdTell
	rightFdWrite
	rightFdAdvise
	rightFdAllocate
	rightPathCreateDirectory
	rightPathCreateFile
	rightPathLinkSource
	rightPathLinkTarget
	rightPathOpen
	rightFdReaddir
	rightPathReadlink
	rightPathRenameSource
	rightPathRenameTarget
	rightPathFilestatGet
	rightPathFilestatSetSize
	rightPathFilestatSetTimes
	rightFdFilestatGet
	rightFdFilestatSetSize
	rightFdFilestatSetTimes
	rightPathSymlink
	rightPathRemoveDirectory
	rightPathUnlinkFile
	rightPollFdReadwrite
	rightSockShutdown
	rightSockAccept

	allRights = rightSockAccept<<1 - 1
)

const (
	pathRights = rightPathCreateDirectory | rightPathCreateFile | rightPathLinkSource |
		rightPathLinkTarget | rightPathOpen | rightPathReadlink | rightPathRenameSource |
		rightPathRenameTarget | rightPathFilestatGet | rightPathFilestatSetSize |
		rightPathFilestatSetTimes | rightPathSymlink | rightPathRemoveDirectory |
		rightPathUnlinkFile

	// dirRights apply to directories. Seeking isn't among them: a position in
	// a directory is a cookie of fd_readdir.
	dirRights = pathRights | rightFdReaddir | rightFdFdstatSetFlags | rightFdSync | rightFdDatasync |
		rightFdFilestatGet | rightFdFilestatSetTimes

	// streamRights apply to what has no position: terminals, pipes, readers
	// and writers. The C library takes a character device without the rights
	// to seek and tell for a terminal.
	streamRights = rightFdRead | rightFdWrite | rightFdFdstatSetFlags | rightFdSync |
		rightFdDatasync | rightFdFilestatGet | rightFdFilestatSetTimes | rightPollFdReadwrite

	fileRights = streamRights | rightFdSeek | rightFdTell | rightFdAdvise | rightFdAllocate |
		rightFdFilestatSetSize

	socketRights = rightFdRead | rightFdWrite | rightFdFdstatSetFlags | rightFdFilestatGet |
		rightPollFdReadwrite | rightSockShutdown | rightSockAccept
)
