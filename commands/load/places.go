package load

import (
	"slices"

	"fundesk/commands/bulk"
)

// rowPlaces has the sums of the rows of a file in their order.
type rowPlaces struct {
	sums  []bulk.Sum
	lines []int32
	equal map[bulk.Sum]int // The number of rows so far that are equal.
}

// add returns the sum of the next row.
func (p *rowPlaces) add(header []string, row bulk.Row) bulk.Sum {
	sum := bulk.SumOf(header, row, 0)
	before := p.equal[sum]
	p.equal[sum]++
	if before > 0 {
		sum = bulk.SumOf(header, row, before)
	}
	p.sums = append(p.sums, sum)
	p.lines = append(p.lines, int32(row.Line))
	return sum
}

// edited returns the results of rows that were edited in their places: the row of an earlier run is gone from its line,
// and the nearest known row above or below stands where it stood. Any other unknown row is new.
func (p *rowPlaces) edited(known bulk.Earlier) map[int]bulk.Past {
	if len(known.Rows) == 0 {
		return nil
	}
	present := map[bulk.Sum]bool{}
	for _, sum := range p.sums {
		present[sum] = true
	}
	inPlace := make([]bool, len(p.sums)) // The nearest known row above keeps its place.
	isInPlace := false
	for i, sum := range p.sums {
		if past, isKnown := known.Rows[sum]; isKnown {
			isInPlace = past.Line == int(p.lines[i])
		}
		inPlace[i] = isInPlace
	}
	edited := map[int]bulk.Past{}
	isInPlace = false
	for i, sum := range slices.Backward(p.sums) {
		line := int(p.lines[i])
		if past, isKnown := known.Rows[sum]; isKnown {
			isInPlace = past.Line == line
			continue
		}
		was, had := known.Lines[line]
		isBesideOne := inPlace[i] || isInPlace
		if had && !present[was] && isBesideOne {
			edited[line] = known.Rows[was]
		}
	}
	return edited
}
