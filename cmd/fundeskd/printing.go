package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// print writes the answer of a command that is done: as JSON with -o json, else as text. The text is written at once or
// not at all.
func (p *program) print(value any, text func(io.Writer)) error {
	var err error
	if p.output == "json" {
		err = newEncoder(p.Out).Encode(value)
	} else {
		var all bytes.Buffer
		text(&all)
		_, err = p.Out.Write(all.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the command is done, but its answer cannot be shown: %w", err)
	}
	return nil
}

func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder
}

// lineWriter prints records one by one: as elements of an array, as lines of JSON, or as lines of cells.
type lineWriter struct {
	out     io.Writer
	format  string
	encoder *json.Encoder
	printed bool
}

func (p *program) newLineWriter() *lineWriter {
	return &lineWriter{out: p.Out, format: p.output, encoder: newEncoder(p.Out)}
}

// add prints one record.
func (w *lineWriter) add(value any, cells func() []string) error {
	if w.format == "" {
		_, err := fmt.Fprintln(w.out, strings.Join(printableCells(cells()), "  "))
		return err
	}
	if w.format == "json" {
		err := w.separate()
		if err != nil {
			return err
		}
	}
	w.printed = true
	return w.encoder.Encode(value)
}

// separate begins the array, or the next element of it.
func (w *lineWriter) separate() error {
	before := "["
	if w.printed {
		before = ","
	}
	_, err := io.WriteString(w.out, before)
	return err
}

// close ends the array. Call it only if nothing failed: half an array must not look like a whole one.
func (w *lineWriter) close() error {
	if w.format != "json" {
		return nil
	}
	end := "]\n"
	if !w.printed {
		end = "[]\n"
	}
	_, err := io.WriteString(w.out, end)
	return err
}

// count returns a number with its noun in the singular or the plural.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// writeTable writes one row of aligned cells for each element.
func writeTable[T any](w io.Writer, all []T, cells func(T) []string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range all {
		fmt.Fprintln(columns, strings.Join(printableCells(cells(one)), "\t"))
	}
	_ = columns.Flush() // w is memory.
}

func printableCells(row []string) []string { return mapped(row, printable) }

// printable returns a text on one line. Control, bidirectional and invisible characters become U+FFFD.
func printable(text string) string {
	return strings.Map(printableRune, text)
}

func printableRune(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
