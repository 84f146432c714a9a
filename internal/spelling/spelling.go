// Package spelling finds the word that a misspelt one was meant to be.
package spelling

import "strings"

// Nearest returns the candidate that word was most likely meant to be, or "" when
// none is near. Upper and lower case, "_" and "-" do not count, and about one letter
// in four may be wrong, missing, added or swapped with its neighbour. Of candidates
// that are equally near the first one is taken.
func Nearest(word string, candidates []string) string {
	letters := fold(word)
	best, least := "", max(1, len(letters)/4)+1
	for _, c := range candidates {
		if d := distance(letters, fold(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// Hint is ": did you mean …?" for the nearest candidate, to be put behind the
// message of an error, or "".
func Hint(word string, candidates []string) string {
	if meant := Nearest(word, candidates); meant != "" {
		return `: did you mean "` + meant + `"?`
	}
	return ""
}

func fold(word string) []rune {
	return []rune(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(word)))
}

// distance counts the letters to change, add, remove or swap with their neighbour
// (the optimal string alignment distance).
func distance(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
