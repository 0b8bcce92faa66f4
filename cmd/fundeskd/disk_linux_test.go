package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The environment of a child whose disk is watched or fails.
const (
	// recordDisk names a file to which each change of the database's files is written,
	// with each flush.
	recordDisk = "FUNDESKD_TEST_RECORD"
	// failDisk names a file with the present fault of the disk: one of those below, or none while it is empty.
	failDisk = "FUNDESKD_TEST_FAULT"
)

// What a failing disk does.
const (
	faultFull  = "full"       // ENOSPC on writes.
	faultWrite = "eio-write"  // EIO on writes.
	faultTorn  = "torn-write" // Half of the data is written, then EIO.
	faultSync  = "eio-sync"   // EIO on flushes.
)

// disk stands between SQLite and the files of the child.
var disk struct {
	mu       sync.Mutex
	log      *os.File
	size     int64 // Of the log.
	fault    string
	system   uintptr            // SQLite's own way to files.
	watched  map[uintptr]string // Open files by the name that they have in the log.
	original map[uintptr]uintptr
	replaced map[uintptr]uintptr
}

// watchDisk makes a recording, failing disk SQLite's way to its files, where the
// environment asks for one. Programs that are not tests know nothing of it.
func watchDisk() {
	record := os.Getenv(recordDisk)
	disk.fault = os.Getenv(failDisk)
	if record == "" && disk.fault == "" {
		return
	}
	if record != "" {
		file, err := os.OpenFile(record, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			panic(err)
		}
		disk.log = file
	}
	disk.watched, disk.original, disk.replaced = map[uintptr]string{}, map[uintptr]uintptr{}, map[uintptr]uintptr{}
	tls := libc.NewTLS()
	sqlite3.Xsqlite3_initialize(tls)
	disk.system = sqlite3.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *at[sqlite3.Tsqlite3_vfs](disk.system)
	name, err := libc.CString("watched")
	if err != nil {
		panic(err)
	}
	vfs.FzName, vfs.FxOpen, vfs.FxDelete = name, pointer(diskOpen), pointer(diskDelete)
	if code := sqlite3.Xsqlite3_vfs_register(tls, own, 1); code != sqlite3.SQLITE_OK {
		panic(code)
	}
}

// at returns the value at an address outside Go's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// pointer returns a function as SQLite's tables hold it.
func pointer[F any](function F) uintptr { return *(*uintptr)(unsafe.Pointer(&function)) }

// function returns one of SQLite's tables as Go calls it.
func function[F any](pointer uintptr) F {
	held := &struct{ uintptr }{pointer}
	return *(*F)(unsafe.Pointer(&held.uintptr))
}

// original is the table of an open file before it was replaced.
func original(file uintptr) (*sqlite3.Tsqlite3_io_methods, string) {
	disk.mu.Lock()
	defer disk.mu.Unlock()
	return at[sqlite3.Tsqlite3_io_methods](disk.original[at[sqlite3.Tsqlite3_file](file).FpMethods]), disk.watched[file]
}

type openFunc func(tls *libc.TLS, vfs, path, file uintptr, flags int32, out uintptr) int32

func diskOpen(tls *libc.TLS, _, path, file uintptr, flags int32, out uintptr) int32 {
	open := function[openFunc](at[sqlite3.Tsqlite3_vfs](disk.system).FxOpen)
	code := open(tls, disk.system, path, file, flags, out)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	opened := at[sqlite3.Tsqlite3_file](file)
	system := opened.FpMethods
	if disk.replaced[system] == 0 {
		own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		methods := at[sqlite3.Tsqlite3_io_methods](own)
		*methods = *at[sqlite3.Tsqlite3_io_methods](system)
		methods.FxWrite, methods.FxTruncate = pointer(diskWrite), pointer(diskTruncate)
		methods.FxSync = pointer(diskSync)
		disk.replaced[system], disk.original[own] = own, system
	}
	disk.watched[file] = filepath.Base(libc.GoString(path))
	opened.FpMethods = disk.replaced[system]
	return code
}

type deleteFunc func(tls *libc.TLS, vfs, path uintptr, sync int32) int32

func diskDelete(tls *libc.TLS, _, path uintptr, sync int32) int32 {
	code := function[deleteFunc](at[sqlite3.Tsqlite3_vfs](disk.system).FxDelete)(tls, disk.system, path, sync)
	if code == sqlite3.SQLITE_OK {
		note(opDelete, filepath.Base(libc.GoString(path)), 0, nil)
	}
	return code
}

type writeFunc func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32

func diskWrite(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32 {
	methods, name := original(file)
	write := function[writeFunc](methods.FxWrite)
	switch fault() {
	case faultFull:
		return sqlite3.SQLITE_FULL
	case faultWrite:
		return sqlite3.SQLITE_IOERR_WRITE
	case faultTorn:
		write(tls, file, data, size/2, offset)
		return sqlite3.SQLITE_IOERR_WRITE
	}
	code := write(tls, file, data, size, offset)
	if code == sqlite3.SQLITE_OK {
		note(opWrite, name, offset, unsafe.Slice(at[byte](data), size))
	}
	return code
}

type truncateFunc func(tls *libc.TLS, file uintptr, size int64) int32

func diskTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	methods, name := original(file)
	code := function[truncateFunc](methods.FxTruncate)(tls, file, size)
	if code == sqlite3.SQLITE_OK {
		note(opTruncate, name, size, nil)
	}
	return code
}

type syncFunc func(tls *libc.TLS, file uintptr, flags int32) int32

func diskSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	methods, name := original(file)
	if fault() == faultSync {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	disk.mu.Lock()
	before := disk.size // What is written while it flushes may not be flushed.
	disk.mu.Unlock()
	code := function[syncFunc](methods.FxSync)(tls, file, flags)
	if code == sqlite3.SQLITE_OK {
		note(opSync, name, before, nil)
	}
	return code
}

// fault returns the present fault of the disk.
func fault() string {
	if disk.fault == "" {
		return ""
	}
	text, err := os.ReadFile(disk.fault)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// The work that a record confirms, after it was done.
const (
	opWrite    = 'w' // offset, data
	opTruncate = 't' // to offset
	opDelete   = 'd'
	opSync     = 's' // Everything in the log before offset.
)

// note writes one record: kind, length of the name, offset, length of the data, name,
// data.
func note(kind byte, name string, offset int64, data []byte) {
	if disk.log == nil {
		return
	}
	record := make([]byte, 0, diskHead+len(name)+len(data))
	record = append(record, kind, byte(len(name)))
	record = binary.BigEndian.AppendUint64(record, uint64(offset))
	record = binary.BigEndian.AppendUint32(record, uint32(len(data)))
	record = append(append(record, name...), data...)
	disk.mu.Lock()
	defer disk.mu.Unlock()
	if _, err := disk.log.Write(record); err != nil {
		panic(err)
	}
	disk.size += int64(len(record))
}

// diskHead is the size of a record without name and data.
const diskHead = 1 + 1 + 8 + 4

// diskOp is a record as it is read.
type diskOp struct {
	start, end int64 // In the log.
	kind       byte
	name       string
	offset     int64
	data       []byte
}

// readDisk reads a log.
func readDisk(file string) ([]diskOp, error) {
	log, err := os.ReadFile(file)
	var ops []diskOp
	for place := 0; err == nil && place+diskHead <= len(log); {
		head := log[place:]
		op := diskOp{start: int64(place), kind: head[0], offset: int64(binary.BigEndian.Uint64(head[2:]))}
		name, size := int(head[1]), int(binary.BigEndian.Uint32(head[10:]))
		place += diskHead + name + size
		if place > len(log) {
			break // Cut when the child was killed.
		}
		op.end, op.name, op.data = int64(place), string(
			head[diskHead:diskHead+name],
		), head[diskHead+name:diskHead+name+size]
		ops = append(ops, op)
	}
	return ops, err
}
