// Package docs_test checks what the README and the pages beside it say: every
// query, chain, program, command and worked example in them is run, and every
// table that lists what the code has is compared with the code.
package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = ".."

// block is one fenced block of a page.
type block struct {
	page  string // file name from the root
	line  int    // of its first line, 1-based
	lang  string
	note  string // an HTML comment right before the block: how it is checked
	text  string // without the fences, ending with a newline
	after *block // the block before it on the page
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// name is for t.Run.
func (b *block) name() string {
	return fmt.Sprintf("%s_%d", strings.TrimSuffix(filepath.Base(b.page), ".md"), b.line)
}

// page is one file with its blocks.
type page struct {
	path   string // from the root
	lines  []string
	blocks []*block
}

func pages(t *testing.T) []*page {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := []*page{readPage(t, "README.md")}
	for _, p := range paths {
		all = append(all, readPage(t, filepath.Join("docs", p)))
	}
	return all
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

func readPage(t *testing.T, path string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	p := &page{path: path, lines: strings.Split(string(text), "\n")}
	var open, before *block
	note := ""
	for i, line := range p.lines {
		switch {
		case open != nil && line == "```":
			p.blocks, before, open = append(p.blocks, open), open, nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &block{page: path, line: i + 2, lang: strings.TrimPrefix(line, "```"), note: note, after: before}
			note = ""
		case comment.MatchString(line):
			note = comment.FindStringSubmatch(line)[1]
		case strings.TrimSpace(line) != "":
			note = ""
		}
	}
	require.Nil(t, open, "%s: a fence is not closed", path)
	return p
}

// blocksOf returns the blocks of one language on all pages.
func blocksOf(t *testing.T, lang string) (found []*block) {
	t.Helper()
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang == lang {
				found = append(found, b)
			}
		}
	}
	require.NotEmpty(t, found, "no block of language %s", lang)
	return found
}

// TestEveryBlockIsChecked fails for a block that no other test looks at. One
// that cannot be checked says why: <!-- not checked: … -->.
func TestEveryBlockIsChecked(t *testing.T) {
	checked := map[string]bool{"sql": true, "json": true, "go": true, "stream": true, "console": true}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if !checked[b.lang] {
				require.Regexp(t, `^not checked: \w`, b.note, "%s: a block of language %q", b, b.lang)
			}
		}
	}
}

// TestLinks follows the links within the repository, headings included.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)|(?:src|href)="([^"]+)"`)
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.prose(), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			file, heading, _ := strings.Cut(target, "#")
			at := filepath.Join(filepath.Dir(p.path), file)
			if file == "" {
				at = p.path
			}
			_, err := os.Stat(filepath.Join(root, at))
			require.NoError(t, err, "%s links to %s", p.path, target)
			if heading != "" {
				require.Contains(t, readPage(t, at).headings(), heading, "%s links to %s", p.path, target)
			}
		}
	}
}

// prose is the page without its fenced blocks.
func (p *page) prose() string {
	var b strings.Builder
	fenced := false
	for _, line := range p.lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// headings are the anchors that GitHub gives to the page's headings.
func (p *page) headings() (anchors []string) {
	strange := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, line := range strings.Split(p.prose(), "\n") {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			anchors = append(anchors, strings.ReplaceAll(strange.ReplaceAllString(strings.ToLower(title), ""), " ", "-"))
		}
	}
	return anchors
}

// table returns the rows, without the head, of the first table below a heading.
func (p *page) table(t *testing.T, heading string) [][]string {
	t.Helper()
	all := p.tables(heading)
	require.NotEmpty(t, all, "%s: no table below %q", p.path, heading)
	return all[0]
}

// tables returns all tables below a heading.
func (p *page) tables(heading string) (all [][][]string) {
	below, inside := false, false
	for _, line := range strings.Split(p.prose(), "\n") {
		row := strings.HasPrefix(line, "|")
		if strings.HasPrefix(line, "#") {
			below = strings.TrimLeft(line, "# ") == heading
		}
		if below && row && !inside {
			all = append(all, nil)
		}
		inside = row
		if !below || !row {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		last := len(all) - 1
		all[last] = append(all[last], cells)
	}
	for i := range all {
		all[i] = all[i][2:] // the head and the line below it
	}
	return all
}

// code returns the pieces of a cell that stand in backquotes.
func code(cell string) (pieces []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}
