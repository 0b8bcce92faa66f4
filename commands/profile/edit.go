package profile

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// edited returns the text of a configuration with the differences between two canonical texts applied. Comments, order
// and blank lines stay; a removed profile takes the comments between its lines along.
func edited(text, before, after string) (string, error) {
	was, err := entriesOf(before)
	if err != nil {
		return "", err
	}
	wanted, err := entriesOf(after)
	if err != nil {
		return "", err
	}
	text, hasMark := strings.CutPrefix(text, byteOrderMark)
	f := &file{text: text, lineEnd: "\n"}
	if first, _, found := strings.Cut(text, "\n"); found && strings.HasSuffix(first, "\r") {
		f.lineEnd = "\r\n"
	}
	if err := f.split(); err != nil {
		return "", err
	}
	for _, e := range was {
		e.isChanged = !slices.ContainsFunc(wanted, e.isSame)
		if e.isChanged {
			f.unfold(e.path, wanted)
		}
	}
	for _, e := range wanted {
		e.isChanged = e.isChanged || !slices.ContainsFunc(was, e.isSame)
		if e.isChanged {
			f.unfold(e.path, wanted)
		}
	}
	for _, e := range was {
		isGone := !slices.ContainsFunc(wanted, func(w *entry) bool { return slices.Equal(w.path, e.path) })
		if isGone || e.isChanged && e.isBlock {
			f.remove(e.path)
		}
	}
	for _, e := range wanted {
		if e.isChanged && !e.isHeader {
			f.set(e)
		}
	}
	for _, e := range slices.Backward(wanted) {
		isEmpty := !slices.ContainsFunc(f.statements, func(s statement) bool { return isUnder(s.path, e.path) })
		if e.isHeader && isEmpty {
			f.addTable(e.path, f.header(e.path))
		}
	}
	if hasMark {
		f.text = byteOrderMark + f.text
	}
	return f.text, f.err
}

const byteOrderMark = "\ufeff" // Editors on Windows begin a file with it.

// entry is one part of a canonical text that is compared and written as a whole.
type entry struct {
	path      []string
	text      string // The value, or all lines of a block.
	isHeader  bool   // Of a table. Its keys are entries of their own.
	isBlock   bool   // All tables of an array.
	isChanged bool
}

func (e *entry) isSame(other *entry) bool {
	return slices.Equal(e.path, other.path) && e.text == other.text
}

// entriesOf returns the entries of a text that the encoder wrote.
func entriesOf(text string) ([]*entry, error) {
	f := &file{text: text}
	if err := f.split(); err != nil {
		return nil, err
	}
	var all []*entry
	var block *entry
	for _, s := range f.statements {
		whole := text[s.start:s.end]
		isSameBlock := block != nil && (s.isBlock && slices.Equal(s.path, block.path) ||
			!s.isHeader && slices.Equal(s.table, block.path))
		if isSameBlock {
			block.text += whole
			continue
		}
		block = nil
		e := &entry{path: s.path, text: text[s.value:s.valueEnd], isHeader: s.isHeader && !s.isBlock}
		if s.isBlock {
			e.text, e.isBlock, block = whole, true, e
		}
		all = append(all, e)
	}
	return all, nil
}

// file is the text of a configuration under change.
type file struct {
	text       string
	lineEnd    string
	statements []statement
	err        error // The first one. Later changes do nothing.
}

// statement is a header, or a key with its value. Its offsets count bytes.
type statement struct {
	start, end      int // Whole lines, with indentation, comment and line end.
	value, valueEnd int
	table           []string // The table that the last header opened.
	path            []string // From the top.
	isHeader        bool
	isBlock         bool     // A header in double brackets.
	comments        []string // Those inside the value.
	lastComment     string   // The one after it.
}

// split finds the statements again after a change.
func (f *file) split() error {
	f.statements = nil
	var table []string
	for at := 0; at < len(f.text); {
		lineEnd := len(f.text)
		if i := strings.IndexByte(f.text[at:], '\n'); i >= 0 {
			lineEnd = at + i + 1
		}
		line := strings.TrimLeft(f.text[at:lineEnd], " \t\r\n")
		if line == "" || line[0] == '#' {
			at = lineEnd
			continue
		}
		s, equals := f.scan(at)
		s.isHeader = line[0] == '['
		s.isBlock = strings.HasPrefix(line, "[[")
		key := f.text[at:max(at, equals)]
		if s.isHeader {
			key = strings.Trim(f.text[at:s.valueEnd], " \t[]")
		}
		path, err := pathOf(key)
		if err != nil {
			return err
		}
		if s.isHeader {
			table = path
			s.value = s.valueEnd
		} else {
			path = slices.Concat(table, path)
		}
		s.table, s.path = table, known(path)
		f.statements = append(f.statements, s)
		at = s.end
	}
	return nil
}

// scan returns the statement that begins at an offset, and the offset of its equals sign.
func (f *file) scan(start int) (statement, int) {
	s := statement{start: start, value: -1, valueEnd: start}
	depth := 0
	var equals int
	for at := start; at < len(f.text); at++ {
		switch c := f.text[at]; c {
		case '\n':
			if depth == 0 {
				s.end = at + 1
				return s, equals
			}
			continue
		case ' ', '\t', '\r':
			continue
		case '#':
			length := strings.IndexByte(f.text[at:]+"\n", '\n')
			comment := strings.TrimRight(f.text[at:at+length], "\r")
			if depth > 0 {
				s.comments = append(s.comments, comment)
			} else {
				s.lastComment = comment
			}
			at += length - 1
			continue
		case '=':
			if equals == 0 {
				equals = at
				continue
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if equals > 0 && s.value < 0 {
			s.value = at
		}
		if c := f.text[at]; c == '"' || c == '\'' {
			at = f.stringEnd(at) - 1
		}
		s.valueEnd = at + 1
	}
	s.end = len(f.text)
	return s, equals
}

// stringEnd returns the offset after the string that begins at an offset.
func (f *file) stringEnd(at int) int {
	quote := f.text[at : at+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(f.text[at:], long) {
		quote = long
	}
	for at += len(quote); at < len(f.text); at++ {
		if f.text[at] == '\\' && quote[0] == '"' {
			at++
			continue
		}
		if strings.HasPrefix(f.text[at:], quote) {
			at += len(quote)
			for len(quote) == 3 && strings.HasPrefix(f.text[at:], quote[:1]) {
				at++ // A long string may end with quotes of its own.
			}
			return at
		}
	}
	return at
}

// pathOf returns the parts of a key as it is written.
func pathOf(key string) ([]string, error) {
	var table map[string]any
	if _, err := toml.Decode(key+" = 0", &table); err != nil {
		return nil, err
	}
	var path []string
	for table != nil {
		var value any
		for name, v := range table {
			path, value = append(path, name), v
		}
		table, _ = value.(map[string]any)
	}
	return path, nil
}

// known returns a path with the names of settings as the encoder writes them: the decoder ignores their case.
func known(path []string) []string {
	path = slices.Clone(path)
	for i := 0; i < len(path) && i < 3; i += 2 {
		path[i] = strings.ToLower(path[i])
	}
	return path
}

func isUnder(path, parent []string) bool {
	return len(path) >= len(parent) && slices.Equal(path[:len(parent)], parent)
}

// replace puts a text where another is.
func (f *file) replace(from, to int, text string) {
	if f.err != nil {
		return
	}
	f.text = f.text[:from] + text + f.text[to:]
	f.err = f.split()
}

// unfold takes out the inline table with a setting that changes, and marks its settings as changed.
func (f *file) unfold(path []string, wanted []*entry) {
	for _, s := range f.statements {
		if s.isHeader || len(s.path) >= len(path) || !isUnder(path, s.path) {
			continue
		}
		f.remove(s.path)
		for _, e := range wanted {
			e.isChanged = e.isChanged || isUnder(e.path, s.path)
		}
		return
	}
}

// remove takes out the statements of a path. A setting leaves its comments; a table takes those between its lines
// along.
func (f *file) remove(path []string) {
	isRemoved := func(s statement) bool { return isUnder(s.path, path) }
	for f.err == nil {
		i := slices.IndexFunc(f.statements, isRemoved)
		if i < 0 {
			return
		}
		first := f.statements[i]
		if first.isHeader {
			kept := slices.IndexFunc(f.statements[i:], func(s statement) bool { return !isRemoved(s) })
			if kept < 0 {
				kept = len(f.statements) - i
			}
			f.removeTable(first.start, f.statements[i+kept-1].end)
			continue
		}
		var left strings.Builder
		for _, comment := range append(first.comments, first.lastComment) {
			if comment != "" {
				left.WriteString(f.indentAt(first.start) + comment + f.lineEnd)
			}
		}
		f.replace(first.start, first.end, left.String())
	}
}

// removeTable takes out the lines of a table, and the blank lines that parted it from others.
func (f *file) removeTable(from, to int) {
	isParted := strings.HasSuffix(f.text[:from], f.lineEnd+f.lineEnd)
	if to == len(f.text) && isParted {
		from -= len(f.lineEnd)
	} else if isParted || from == 0 {
		to += len(f.text[to:]) - len(strings.TrimLeft(f.text[to:], "\r\n"))
	}
	f.replace(from, to, "")
}

// set writes a setting in its place, or adds it to its table.
func (f *file) set(e *entry) {
	if f.err != nil {
		return
	}
	if e.isBlock {
		f.addTable(e.path, f.indented(e.text))
		return
	}
	for _, s := range f.statements {
		if s.isHeader || !slices.Equal(s.path, e.path) {
			continue
		}
		f.replace(s.value, s.valueEnd, e.text)
		indent := f.indentAt(s.start)
		for _, comment := range slices.Backward(s.comments) { // A replaced list leaves its comments.
			f.replace(s.start, s.start, indent+comment+f.lineEnd)
		}
		return
	}
	f.add(e)
}

// add adds a setting to its table: as a line of it, with a dotted key as others of the table have, or with a header.
func (f *file) add(e *entry) {
	table := e.path[:len(e.path)-1]
	profile := e.path[:min(2, len(table))]
	isOfTable := func(s statement) bool { return slices.Equal(known(s.table), table) }
	isDotted := func(s statement) bool {
		return !s.isHeader && (isUnder(s.path, table) && len(s.table) < len(table) ||
			isUnder(s.path, profile) && len(s.table) < len(profile))
	}
	at := lastIndex(f.statements, isOfTable)
	if at < 0 {
		at = lastIndex(f.statements, isDotted)
	}
	if at < 0 && len(table) > 0 {
		f.addTable(table, f.header(table)+f.line(f.indent(len(table)), e.path[len(table):], e.text))
		return
	}
	if at < 0 {
		f.addTop(f.line("", e.path, e.text))
		return
	}
	s := f.statements[at]
	indent := f.indentAt(s.start)
	if s.isHeader {
		indent = f.indent(len(table))
	}
	f.insert(s.end, f.line(indent, e.path[len(s.table):], e.text))
}

func lastIndex(all []statement, is func(statement) bool) int {
	for i, s := range slices.Backward(all) {
		if is(s) {
			return i
		}
	}
	return -1
}

// addTop adds a line above the first table and the comment that belongs to it.
func (f *file) addTop(line string) {
	if len(f.statements) == 0 {
		f.insert(len(f.text), line)
		return
	}
	at := f.statements[0].start
	for at > 0 {
		above := strings.LastIndexByte(f.text[:at-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimLeft(f.text[above:at], " \t"), "#") {
			break
		}
		at = above
	}
	f.insert(at, line+f.lineEnd)
}

// addTable adds the lines of a table after those of its profile, or at the end.
func (f *file) addTable(path []string, lines string) {
	at := len(f.text)
	last := lastIndex(f.statements, func(s statement) bool { return isUnder(s.path, path[:min(2, len(path))]) })
	if last >= 0 {
		for last+1 < len(f.statements) && !f.statements[last+1].isHeader {
			last++ // A header would take the lines after it.
		}
		at = f.statements[last].end
	}
	if at > 0 && !strings.HasSuffix(f.text[:at], f.lineEnd+f.lineEnd) {
		lines = f.lineEnd + lines
	}
	f.insert(at, lines)
}

// insert adds lines. The last line of a file may have no end.
func (f *file) insert(at int, lines string) {
	if at > 0 && f.text[at-1] != '\n' {
		lines = f.lineEnd + lines
	}
	f.replace(at, at, lines)
}

func (f *file) line(indent string, key []string, value string) string {
	return indent + toml.Key(key).String() + " = " + value + f.lineEnd
}

func (f *file) header(path []string) string {
	return f.indent(len(path)-1) + "[" + toml.Key(path).String() + "]" + f.lineEnd
}

// indent returns the indentation at a depth: the encoder's, if the file has any.
func (f *file) indent(depth int) string {
	isIndented := func(s statement) bool { return f.indentAt(s.start) != "" }
	if !slices.ContainsFunc(f.statements, isIndented) {
		return ""
	}
	return strings.Repeat("  ", depth)
}

// indentAt returns the indentation of the line at an offset.
func (f *file) indentAt(at int) string {
	line := f.text[at:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// indented returns lines of the encoder as the file has its lines.
func (f *file) indented(lines string) string {
	var all strings.Builder
	for line := range strings.Lines(lines) {
		if f.indent(1) == "" {
			line = strings.TrimLeft(line, " ")
		}
		all.WriteString(strings.TrimRight(line, "\n") + f.lineEnd)
	}
	return all.String()
}
