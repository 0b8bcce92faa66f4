//go:build !linux

package main

// watchDisk does nothing: the disk is watched on Linux alone.
func watchDisk() {}
