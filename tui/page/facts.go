package page

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
	"fundesk/tui/desk/card"
	"fundesk/tui/widget"
)

// checkRuleOf returns the title above the facts.
func checkRuleOf(c *callCard) string {
	if c.fixing() != nil {
		return c.frame.Rule(c.Styles.bold(c.Say("Correct")), c.Styles.Key("esc")+" "+c.Say("closes"))
	}
	title := c.Styles.bold(c.Say("Check"))
	if checked := c.Day.Card().CheckedText(); checked != "" {
		title += c.Styles.Dim(" · ") + checked
	}
	return c.frame.Rule(
		title,
		c.Styles.Key(c.Host.KeyOf(ActTick))+" "+c.Say("ticks")+" · "+
			c.Styles.Key(c.Host.KeyOf(ActFix))+" "+c.Say("corrects"),
	)
}

// checkLines returns the facts, each with its key and its tick. Contacts are to their right if there is room for two
// columns. While a detail is corrected, the details replace both.
func (c *callCard) checkLines(tight bool) []string {
	if f := c.fixing(); f != nil {
		lines, focus := f.lines(c.Styles, c.width)
		c.focus = focus
		return c.frame.Lines(lines...)
	}
	facts := c.Day.Card().Facts(c.sign)
	hasContacts := c.layout.Panes == 3 && len(c.Day.Card().Script.Lines) == 0 // To the right of the card.
	if c.width < twoColumns || hasContacts {
		return c.frame.Lines(c.factLines(facts, c.width, tight)...)
	}
	left := (c.width - ruleWidth) * 3 / 5
	right := c.width - ruleWidth - left
	lines, contacts := c.factLines(facts, left, false), c.historyLines(right, mostContacts)
	contacts = append([]string{c.Styles.bold(c.Say("Contacts"))}, contacts...)
	height := max(len(lines), len(contacts))
	return c.frame.Lines(
		widget.Beside(
			c.Styles.Dim(c.Styles.rule),
			widget.Block(lines, left, height),
			widget.Block(contacts, right, height),
		)...)
}

// The widths of the labels of facts, and of the pointer, sign and key before them, in cells.
const (
	factLabel = 9
	factSigns = 6
)

// factLines returns the facts in lines of a width. Packed, two short ones that follow each other share a line.
func (c *callCard) factLines(facts []card.Fact, width int, packed bool) []string {
	half := (width - 1) / 2
	open := false // The last line has room for another fact.
	var lines []string
	for i, f := range facts {
		drawn := c.fact(i, f, width, packed)
		if i == c.at && c.moved {
			c.focus = len(lines)
		}
		isShort := len(drawn) == 1 && render.Width(strings.TrimRight(ansi.Strip(drawn[0]), " ")) <= half
		if packed && open && isShort {
			last := &lines[len(lines)-1]
			*last = widget.Fit(*last, width-half) + drawn[0]
			open = false
		} else {
			lines, open = append(lines, drawn...), isShort
		}
	}
	return lines
}

// fact draws a fact: the pointer if the agent is there, its sign, its key and its value.
func (c *callCard) fact(i int, f card.Fact, width int, packed bool) []string {
	s := c.Styles
	sign, pointer := " ", " "
	if f.IsChanged() {
		sign = s.accent(s.changed)
	} else if f.Checked {
		sign = s.Good(s.OKSign)
	}
	if i == c.at {
		pointer = s.Key(s.pointer)
	}
	for j := range f.Parts {
		p := &f.Parts[j]
		p.Was, p.Is = Clean(p.Was), Clean(p.Is)
		if c.ASCII {
			p.Was, p.Is = strings.Replace(p.Was, "€", "EUR", 1), strings.Replace(p.Is, "€", "EUR", 1)
		}
	}
	text, room := ansi.Strip(f.Draw(c.turned)), max(width-factSigns-factLabel-1, 8)
	known := text != ""
	if !known {
		text = s.Dim(c.Say("none"))
	} else if f.IsChanged() && render.Width(text) <= room {
		text = f.Draw(c.turned)
	}
	if f.Why != "" {
		if why := "  " + c.Say(f.Why); render.Width(text+why) <= room {
			text += s.Dim(why)
		}
	} else if f.IsSecret() && !c.Day.IsRevealed && known {
		hint := "  " + s.Key(c.Host.KeyOf(ActReveal)) + " " + c.Say("shows")
		if !packed && render.Width(text+hint) <= room {
			text += hint
		}
	}
	start := pointer + widget.Fit(sign, 2) +
		" " + s.Key(widget.Fit(f.Press, 1)) +
		" " + s.Dim(widget.Fit(f.Label, factLabel)) + " "
	var lines []string
	for _, part := range widget.Wrap(text, room) {
		lines = append(lines, start+part)
		start = strings.Repeat(" ", factSigns+factLabel+1)
	}
	return lines
}

// sign returns how a yes, a no and the unknown are drawn.
func (d *Desk) sign(said string) string {
	return map[string]string{"yes": d.Styles.OKSign, "no": d.Styles.badSign, "": "?"}[said]
}

// Tick ticks the fact at the pointer, or takes its tick back, and goes on to the next one.
func (d *Desk) Tick() tea.Cmd {
	facts := d.Day.Card().Facts(d.sign)
	d.Day.Form().Tick(facts[d.at].ID)
	d.at, d.ticked, d.moved = min(d.at+1, len(facts)-1), &facts[d.at], true
	return nil
}

// TickInstead ticks the fact of a digit and unticks the fact of the key before. It returns false if no fact has that
// digit.
func TickInstead(d *Desk, key string) bool {
	just := d.ticked
	d.ticked = nil
	isDigit := len(key) == 1 && '0' <= key[0] && key[0] <= '9'
	if just == nil || !isDigit {
		return false
	}
	facts := d.Day.Card().Facts(d.sign)
	i := slices.IndexFunc(facts, func(f card.Fact) bool { return f.Press == key })
	if i < 0 {
		d.Messages.Refuse(d.Say("no detail on the card has the key %s", key))
		return true
	}
	now := slices.IndexFunc(facts, func(f card.Fact) bool { return f.Press == just.Press })
	d.Day.Form().Tick(facts[now].ID)
	d.Day.Form().Tick(facts[i].ID)
	d.at = min(i+1, len(facts)-1)
	return true
}
