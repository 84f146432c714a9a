package operator

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMaxBytesBoundsTheState of each side, whatever it consists of: the gate
// lets rows in while there is room, refuses them when there is none, and lets
// them in again once others have expired.
func TestMaxBytesBoundsTheState(t *testing.T) {
	const (
		limit = 1 << 20
		step  = limit / 8 // what grows in steps is seen a row later
		n     = 60_000
	)
	keys := names(n)
	for name, key := range map[string]func(i int) string{
		"a key a row":      func(i int) string { return keys[i] },
		"few keys":         func(i int) string { return keys[i%50] },
		"one key":          func(int) string { return "hot" },
		"keys of length":   func(i int) string { return strings.Repeat("k", i%3000) + keys[i] },
		"rows and a giant": func(i int) string { return strings.Repeat("k", i%500/499*200_000) + keys[i] },
	} {
		for _, disorder := range []int64{0, n} {
			t.Run(fmt.Sprintf("%s, disorder %d", name, disorder), func(t *testing.T) {
				b := newBench(t, JoinConfig{Within: n, Left: true, MaxKeys: n, MaxBytes: limit})
				rnd := rand.New(rand.NewPCG(7, 8))
				ts := func(i int) int64 { return n + int64(i) - rnd.Int64N(disorder+1) }
				for i := range n {
					b.feed(0, ts(i), key(i))
					if has := b.sideBytes(0); has > limit+step {
						require.LessOrEqual(t, has, int64(limit+step))
					}
				}
				st := b.Stats()
				require.Positive(t, b.out.dropped)
				require.Equal(t, int64(n), st.Rows+st.Expired+int64(b.out.dropped))
				require.Greater(t, b.sideBytes(0), int64(limit-2*chunkMax), "the room was used")

				// The other side has room of its own, in spite of the shared keys.
				dropped := b.out.dropped
				for i := range 100 {
					b.feed(1, 1, fmt.Sprint(i))
				}
				require.Equal(t, dropped, b.out.dropped)

				b.Advance(0, Progress{Seen: 10 * n, Low: 9 * n})
				require.Zero(t, b.sides[0].rows)
				for i := range int64(1000) {
					b.feed(0, 10*n+i, "again")
				}
				require.Equal(t, dropped, b.out.dropped, "room again")
			})
		}
	}
}
