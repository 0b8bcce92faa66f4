package bulk_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"fundesk/commands/bulk"
)

// Rows come one by one out of every form of file, with the line on which each begins.
func TestReadRows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		format bulk.Format
		text   string
		want   string // LINE:TEXT, or LINE!WHY; a file that ends early ends with its fault.
	}{
		{"ndjson", bulk.Format{}, "{\"a\":1}\n\n{\"a\":\n", `1:{"a":1} 3:{"a":`},
		{"an array over lines", bulk.Format{}, "[\n {\"a\":1},\n\n {\"a\":\n2}]\n", "2:{\"a\":1} 4:{\"a\":\n2}"},
		{"an array that is cut", bulk.Format{}, "[{\"a\":1},\n{\"a\":", `1:{"a":1} 2!must be JSON`},
		{"an object over lines", bulk.Format{}, "{\n\"a\":1\n}\n", "1:{\n\"a\":1\n}"},
		{"objects over lines", bulk.Format{}, "{\n\"a\":1\n}\n{\n\"a\":2\n}", "1:{\n\"a\":1\n} 4:{\n\"a\":2\n}"},
		{"csv", bulk.Format{}, "a;b\n1;\"x\ny\"\n\n;\n2;z", "2:1|x\ny 6:2|z"},
		{"csv with rows of blanks", bulk.Format{}, "a;b\n ;\u00a0\n\u200b;\n2;z", "4:2|z"},
		{"csv with a row that is short", bulk.Format{}, "a,b\n1\n2,3\n", "2!wrong number of fields 3:2|3"},
		{
			name:   "csv with a quote that does not end",
			format: bulk.Format{},
			text:   "a,b\n1,\"2\n",
			want:   "2!extraneous or missing \" in quoted-field",
		},
		{"utf-16, little end first", bulk.Format{}, "\xff\xfea\x00\n\x00\xeb\x00\n\x00", "2:ë"},
		{"utf-16, big end first", bulk.Format{}, "\xfe\xff\x00a\x00\n\xd8\x3d\xde\x00", "2:😀"},
		{"utf-16 that is cut", bulk.Format{Name: "x.csv"}, "\xff\xfea\x00\n\x00b", "fault: line 2 is not valid utf-16"},
		{"cp1252", bulk.Format{Encoding: "cp1252"}, "a\n\x80\xeb\n", "2:€ë"},
		{
			name:   "cp1252 with what it does not have",
			format: bulk.Format{Encoding: "cp1252"},
			text:   "a\n\x81\n",
			want:   "fault: line 2 is not valid cp1252",
		},
		{"cp1252 to its ends", bulk.Format{Encoding: "cp1252"}, "a\n\x7f\x80\x9e\x9f\xa0\xff\n", "2:\x7f€žŸ\u00a0ÿ"},
		{
			name:   "cp1252 with another that it does not have",
			format: bulk.Format{Encoding: "cp1252"},
			text:   "a\n\x8d\n",
			want:   "fault: line 2 is not valid cp1252",
		},
		{"cp1252 with a third", bulk.Format{Encoding: "cp1252"}, "a\n\x8f\n", "fault: line 2 is not valid cp1252"},
		{"cp1252 with a fourth", bulk.Format{Encoding: "cp1252"}, "a\n\x90\n", "fault: line 2 is not valid cp1252"},
		{"cp1252 with a fifth", bulk.Format{Encoding: "cp1252"}, "a\n\x9d\n", "fault: line 2 is not valid cp1252"},
		{"latin1", bulk.Format{Encoding: "latin1"}, "a\n\x80\xeb\n", "2:\u0080ë"},
		{
			name:   "an unknown encoding",
			format: bulk.Format{Encoding: "ebcdic"},
			text:   "a\n",
			want:   "fault: --encoding must be one of utf-8, utf-16, utf-16be, cp1252, latin1, iso-8859-15",
		},
		{
			name:   "utf-16 with half a character",
			format: bulk.Format{Name: "x.csv"},
			text:   "\xff\xfea\x00\n\x00\x3d\xd8b\x00\n\x00",
			want:   "fault: line 2 is not valid utf-16",
		},
		{
			name:   "utf-16 that ends in half a character",
			format: bulk.Format{Name: "x.csv"},
			text:   "\xff\xfea\x00\n\x00\x3d\xd8",
			want:   "fault: line 2 is not valid utf-16",
		},
		{"latin9, which has œ and €", bulk.Format{Encoding: "ISO-8859-15"}, "a\n\xbd\xa4\n", "2:œ€"},
		{
			name:   "utf-16 without a mark, by name",
			format: bulk.Format{Name: "x.csv", Encoding: "utf-16"},
			text:   "a\x00\n\x00\xeb\x00\n\x00",
			want:   "2:ë",
		},
		{
			name:   "utf-16 without a mark, big end first",
			format: bulk.Format{Name: "x.csv", Encoding: "utf-16be"},
			text:   "\x00a\x00\n\x00\xeb\x00\n",
			want:   "2:ë",
		},
		{
			name:   "utf-16 of the other end",
			format: bulk.Format{Name: "x.csv", Encoding: "utf-16"},
			text:   "\x00a\x00b\x00c\x00d\x00\n",
			want:   "fault: the file is UTF-16 without a mark",
		},
		{
			name:   "utf-16 as an encoding of bytes",
			format: bulk.Format{Name: "x.csv", Encoding: "cp1252"},
			text:   "a\x00b\x00c\x00d\x00\n\x00",
			want:   "fault: the file is UTF-16 without a mark",
		},
		{
			name:   "utf-16 without a mark and a name",
			format: bulk.Format{Name: "x.csv"},
			text:   "a\x00b\x00c\x00d\x00\n\x00",
			want:   "fault: the file is UTF-16 without a mark",
		},
		{"the delimiter for Excel", bulk.Format{Name: "x.csv"}, "sep=;\r\na;b,c\r\n1;2\r\n", "3:1|2"},
		{"the delimiter for Excel in quotes", bulk.Format{}, "\"sep=|\"\na|b\n1|2\n", "3:1|2"},
		{"an empty line above the header", bulk.Format{}, "\r\na;b,c\r\n1;2\r\n", "3:1|2"},
		{"blank cells above the header", bulk.Format{}, ";;\na;b\n1;2\n", "3:1|2"},
		{"blank cells alone", bulk.Format{}, ";;\n;;\n", "fault: line 1: there is no CSV header"},
		{"lines that end as on an old Mac", bulk.Format{}, "a;b\r1;2\r3;\"x\ry\"\r", "2:1|2 3:3|x\ny"},
		{"a sign for what cannot be read", bulk.Format{}, "a\n\ufffd\n", "2:\ufffd"},
		{"tabs by name", bulk.Format{Delimiter: "tab"}, "a,b\tc\n1,2\t3\n", "2:1,2|3"},
		{"tabs as they are escaped", bulk.Format{Delimiter: `\t`}, "a\tb\n1\t2\n", "2:1|2"},
		{"a delimiter of one's own", bulk.Format{Delimiter: "~"}, "a~b\n1~2\n", "2:1|2"},
		{
			name:   "a delimiter of two",
			format: bulk.Format{Delimiter: "::"},
			text:   "a::b\n",
			want:   "fault: --delimiter must be one character, or tab",
		},
		{
			name:   "a quote as a delimiter",
			format: bulk.Format{Delimiter: `"`},
			text:   "a\n",
			want:   "fault: --delimiter must be one character, or tab",
		},
		{"as many of one as of another", bulk.Format{}, "a,b;c\n1,2;3\n", "2:1|2;3"},
		{"commas in quotes", bulk.Format{Name: "x.csv"}, "\"a,b,c\"|d\n1|2\n", "2:1|2"},
		{"a name of csv", bulk.Format{Name: "x.CSV"}, "{a\n1\n", "2:1"},
		{"a name of tsv", bulk.Format{Name: "x.tsv"}, "[a\tb\n1\t2\n", "2:1|2"},
		{"a name of json", bulk.Format{Name: "x.jsonl"}, "a\n1\n", "1:a 2:1"},
		{"a header in quotes", bulk.Format{}, "\"a\",\"b\"\n1,2\n", "2:1|2"},
		{"a text by name", bulk.Format{Name: "x.json"}, "\"a\"\n", "1:\"a\""},
		{"nothing", bulk.Format{}, " \n", ""},
		{"nothing by name", bulk.Format{Name: "x.csv"}, "", ""},
		{"no header", bulk.Format{Name: "x.csv"}, "\n", "fault: line 1: there is no CSV header"},
		{"an object and another on a line", bulk.Format{}, "{\"a\":1}\n{\n}", "1:{\"a\":1} 2:{ 3:}"},
		{"an object over lines that is cut", bulk.Format{}, "{\n\"a\":1\n", "1:{ 2:\"a\":1"},
		{"an array with more after it", bulk.Format{}, "[{\"a\":1}]\n{\"b\":2}", "1:{\"a\":1} 2:{\"b\":2}"},
		{"an empty array", bulk.Format{}, "[]", ""},
		{"utf-8 with a mark", bulk.Format{}, "\ufeffa\nb\n", "2:b"},
		{"not utf-8", bulk.Format{}, "a\nb\n\xeb\n", "fault: line 3 must be valid UTF-8"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			rows, err := bulk.ReadRows(iotest.OneByteReader(strings.NewReader(test.text)), test.format)
			if err != nil {
				got = append(got, "fault: "+err.Error())
				rows.All = func(func(bulk.Row, error) bool) {}
			}
			for row, err := range rows.All {
				switch {
				case err != nil:
					got = append(got, "fault: "+err.Error())
				case row.Wrong != "":
					got = append(got, fmt.Sprintf("%d!%s", row.Line, row.Wrong))
				case row.Text != nil:
					got = append(got, fmt.Sprintf("%d:%s", row.Line, row.Text))
				default:
					got = append(got, fmt.Sprintf("%d:%s", row.Line, strings.Join(row.Cells, "|")))
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
