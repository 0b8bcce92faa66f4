package page

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// field is a line of a record: a label, a text, and perhaps the record it points to.
type field struct {
	label string
	text  string
	role  paint      // Nil draws it plain.
	to    *Reference // Enter goes there, or
	list  listing    // shows that list.
	copy  string     // What y copies; "" copies the text.
	head  bool       // A heading: the label alone.
	band  bool       // It is about the donor, and is drawn on the band of the name.
	dials bool       // A number to dial.
	raw   bool       // An identifier or an object of JSON: only in a record that was opened.
	cells int        // The width of the label's column. Zero means labelWidth.
}

// leads reports whether Enter goes somewhere from the line.
func (f field) leads() bool { return f.to != nil || f.list.filter != "" }

// The width of the column of labels, in cells, and the longest one if labels are longer.
const (
	labelWidth = 13
	mostLabel  = 24
)

// draw returns the field in lines of at most width cells.
func (f field) draw(s Styles, width int) []string {
	if f.head {
		if f.role == nil {
			f.role = s.bold
		}
		return []string{f.role(widget.Fit(s.say(f.label), width))}
	}
	role := f.role
	if role == nil {
		role = s.plain
	}
	column := cmp.Or(f.cells, labelWidth)
	room := max(width-column, 8)
	var lines []string
	for _, line := range cleanLines(f.text) {
		for _, part := range widget.Wrap(line, room) {
			label := ""
			if len(lines) == 0 {
				label = s.say(f.label)
			}
			lines = append(lines, s.Dim(widget.Fit(label, column-1))+" "+role(part))
		}
	}
	return lines
}

// drawOnBand returns the field in lines of a width for the band of the donor.
func (f field) drawOnBand(s Styles, width int) []string {
	text := strings.TrimSpace(s.say(f.label) + " " + Clean(f.text))
	if f.dials {
		text = Clean(f.text) + "  " + s.say(f.label)
	}
	return widget.Wrap(text, width)
}

// lines draws a field of a record, with a sign before it if it leads somewhere or is chosen.
func (f field) lines(styles Styles, width int, isChosen bool) []string {
	width -= 2 // The sign.
	lines := f.draw(styles, width)
	if f.band {
		lines = f.drawOnBand(styles, width)
	}
	for i, line := range lines {
		sign := "  "
		if f.leads() && (isChosen || i == 0) {
			sign = "> "
		}
		switch {
		case isChosen:
			sign = styles.chosen(sign)
		case f.band:
			sign = styles.band(sign)
		case sign == "> ":
			sign = styles.Key(sign)
		}
		if f.band {
			line = styles.onBand(line, width)
		}
		lines[i] = sign + line
	}
	return lines
}

// fields collects the lines of a record; what is missing leaves no line.
type fields struct {
	*Env
	all []field
}

func (f *fields) head(title string) { f.all = append(f.all, field{label: title, head: true}) }

func (f *fields) add(label, text string) {
	if text != "" {
		f.all = append(f.all, field{label: label, text: text})
	}
}

// last returns the line added last.
func (f *fields) last() *field { return &f.all[len(f.all)-1] }

func (f *fields) text(label string, text *string) { f.add(label, apitype.TextOf(text)) }

// result adds the result of a call, if it has one.
func (f *fields) result(c *apitype.Call) {
	r := c.Result.Pointer()
	if r == nil {
		return
	}
	code := apitype.TextOf(r.ResultCode)
	f.all = append(
		f.all,
		field{
			label: "result",
			text:  f.Say(f.Day.Codes.Words(c.Type, code)),
			copy:  code,
			role:  f.Styles.accent,
		},
	)
	f.time("completed", r.CompletedAt)
	if r.DonorRetentionRating != nil {
		f.add("rating", f.Day.Locale.Decimal(r.DonorRetentionRating.String()))
	}
	f.text("notes", r.Notes)
}

// phones adds the numbers as they are dialled here. The international form is copied.
func (f *fields) phones(p apitype.Person) {
	for _, n := range []struct {
		label  string
		number *string
	}{{"mobile", p.MobilePhoneNumber}, {"phone", p.PhoneNumber}} {
		if text := apitype.TextOf(n.number); text != "" {
			f.all = append(
				f.all,
				field{
					label: n.label,
					text:  f.Day.Locale.Spoken(text),
					copy:  text,
					role:  f.Styles.bold,
					band:  true,
					dials: true,
				},
			)
		}
	}
}

// identifier adds a record that has no better name, to be opened.
func (f *fields) identifier(label string, to Reference) {
	f.all = append(f.all, field{
		label: label,
		text:  to.ID.String(),
		to:    &to,
		raw:   true,
	})
}

func (f *fields) time(label string, t *apitype.Time) {
	if t != nil && !t.IsZero() {
		f.add(label, f.when(*t))
	}
}

// object adds a JSON object as it was sent.
func (f *fields) object(label string, o apitype.Object) {
	if len(o) > len("{}") {
		f.all = append(f.all, field{label: label, text: string(o), raw: true})
	}
}

func (e *Env) euros(a apitype.Amount) string { return e.inEuros(e.Day.Locale.Grouped(a)) }

func (e *Env) inEuros(amount string) string {
	text := e.Day.Locale.InEuros(amount)
	if e.ASCII {
		return strings.Replace(text, "€", "EUR", 1)
	}
	return text
}

func (f *fields) transactions(all []apitype.Transaction) {
	if len(all) == 0 {
		return
	}
	f.head(f.Day.Count(len(all), "transaction", "transactions"))
	for _, t := range all {
		parts := []string{
			f.euros(t.Amount) + " " + f.Say(render.Words(t.Status)) + " " + f.ago(t.CreatedAt.Time),
			f.Say(render.Words(apitype.TextOf(t.Method))),
			apitype.TextOf(t.Provider),
			apitype.TextOf(t.Description),
		}
		if t.IBAN != nil {
			parts = append(parts, f.secret(*t.IBAN, render.MaskIBAN))
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		f.add("payment", strings.Join(parts, ", "))
		f.last().copy = t.UUID.String()
	}
}
