import { expect, test } from 'vitest';
import { callsOf, mined, symbolOf } from '../../../../support/miners/mined.js';

const source = `// Package store keeps things.
package store

import (
	"fmt"
	lvl "github.com/x/level/v2"
	. "errors"
)

// MaxItems is the bound.
const MaxItems, minItems = 10, 1

const (
	Red Color = iota
	Green
)

var cache map[string]int

// Store keeps items.
type Store[K comparable] struct {
	items map[K]Item
	mu    sync.Mutex
}

type (
	// Reader reads.
	Reader interface {
		// Read one.
		Read(key string) (Item, error)
		fmt.Stringer
	}
	Color int
	Alias = Store[string]
)

// Get returns an item,
// or an error.
func (s *Store[K]) Get(key K, opts ...Option) (Item, error) {
	s.mu.Lock()
	defer func() { s.mu.Unlock() }()
	if item, ok := s.items[key]; ok {
		return item, nil
	}
	const local = 1
	return Item{}, fmt.Errorf("none: %v", New[int](key))
}

func New[T any](x T) *lvl.Table { return &lvl.Table{Size: len(cache)} }

func asm(a, b int) int
`;

test('functions, methods, types, constants and variables of a package are symbols', async () => {
  const facts = await mined('go', source);
  expect(
    facts.symbols.map((each) => [
      each.signature,
      each.container,
      each.exported,
      each.declaration,
      each.doc,
    ]),
  ).toEqual([
    ['constant:MaxItems', '', true, false, 'MaxItems is the bound.'],
    ['constant:minItems', '', false, false, ''],
    ['constant:Red | type:Color', '', true, false, ''],
    ['constant:Green', '', true, false, ''],
    ['variable:cache | type:map[string]int', '', false, false, ''],
    ['struct:Store | fields:2', '', true, false, 'Store keeps items.'],
    ['interface:Reader | methods:1', '', true, false, 'Reader reads.'],
    [
      'method:Read | params:1 | returns:(Item, error) | (key string)',
      'Reader',
      true,
      true,
      'Read one.',
    ],
    ['type:Color | is:int', '', true, false, ''],
    ['type:Alias | is:Store[string]', '', true, false, ''],
    [
      'method:Get | params:2 | returns:(Item, error) | (key K, opts ...Option)',
      'Store',
      true,
      false,
      'Get returns an item, or an error.',
    ],
    ['function:New | params:1 | returns:*lvl.Table | (x T)', '', true, false, ''],
    ['function:asm | params:2 | returns:int | (a, b int)', '', false, true, ''],
  ]);
  expect(symbolOf(facts, 'Store')).toMatchObject({ line_start: 21, line_end: 24 });
  expect(facts.error_bytes).toBe(0);
});

test('calls know their function, receiver and whether they construct; imports their names', async () => {
  const facts = await mined('go', source);
  expect(callsOf(facts)).toEqual([
    'Get → s.mu.Lock (member)',
    'Get → s.mu.Unlock (member)',
    'Get → Item (construct)',
    'Get → fmt.Errorf (member)',
    'Get → New (direct)',
    'New → lvl.Table (construct)',
    'New → len (direct)',
  ]);
  expect(facts.imports.map(({ target, names }) => [target, ...names])).toEqual([
    ['fmt', '*:fmt'],
    ['github.com/x/level/v2', '*:lvl'],
    ['errors', '*'],
  ]);
});
