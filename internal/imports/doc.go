// Package imports holds a test only: the one that keeps data flowing one way
// through the house, by failing on an import that points forward.
package imports
