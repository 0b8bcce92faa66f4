package tui

import (
	"fmt"
	"reflect"
	"strings"
)

// screen returns exactly the lines of the terminal, as Update has drawn them.
func (a *app) screen() []string { return strings.Split(a.View().Content, "\n") }

// state returns everything that the interface holds, a line each: its path and its value. What other packages of Go
// hold, such as the client's connections, is left out.
func state(a *app) []string {
	var lines []string
	seen := map[uintptr]bool{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				lines = append(lines, path+" nil")
			} else if !seen[v.Pointer()] && strings.HasPrefix(v.Type().Elem().PkgPath(), "fundesk/tui") {
				seen[v.Pointer()] = true
				walk(path, v.Elem())
			}
		case reflect.Interface:
			if !v.IsNil() {
				walk(path+"("+v.Elem().Type().String()+")", v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			lines = append(lines, fmt.Sprint(path, " length ", v.Len()))
			for i := range v.Len() {
				walk(fmt.Sprint(path, "[", i, "]"), v.Index(i))
			}
		case reflect.Map:
			lines = append(lines, fmt.Sprint(path, " length ", v.Len()))
		case reflect.Func, reflect.Chan, reflect.UnsafePointer:
			lines = append(lines, fmt.Sprint(path, " ", v.IsNil()))
		default:
			lines = append(lines, fmt.Sprint(path, " ", v))
		}
	}
	walk("app", reflect.ValueOf(a))
	return lines
}

// onlyReads draws again what Update has drawn, and compares everything that the interface holds.
func (d *driver) onlyReads() {
	d.t.Helper()
	before := state(d.app)
	lines, _ := d.app.drawn()
	shown, again := d.app.View().Content, strings.Join(lines, "\n")
	if shown != again {
		d.t.Errorf("got two frames of one state:\n%s\n\n%s", shown, again)
	}
	after := state(d.app)
	for i, line := range before {
		if i >= len(after) || after[i] != line {
			d.t.Fatalf("drawing changed %s to %s", line, after[min(i, len(after)-1)])
		}
	}
}
