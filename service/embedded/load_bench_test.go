package embedded

import (
	"testing"

	"github.com/go-json-experiment/json"

	"fundesk/service"
)

// BenchmarkDecode reads sample records from the lines that fundeskd load takes: what a
// load spends before it saves.
func BenchmarkDecode(b *testing.B) {
	var lines [][]byte
	err := Sample(SampleOptions{Persons: 200, Now: sampleNow}, func(r service.LoadRecord) error {
		line, err := json.Marshal(r)
		lines = append(lines, line)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, err := service.DecodeLoadRecord(line); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "records/s")
}
