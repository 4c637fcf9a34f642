import { expect, test } from 'vitest';
import { callsOf, mined, symbolOf } from '../../../../support/miners/mined.js';

const source = `package org.example.store;

import java.util.List;
import static java.lang.Math.max;
import org.example.wire.*;

/**
 * Keeps items.
 * @param <K> the key
 */
@Deprecated
public class Store<K> extends Base implements Reader, Closeable {
    /** The bound. */
    public static final int MAX = 10, MIN = 1;
    private int size;

    public Store(int size) { this.size = size; }

    /** Gets one. */
    @Override
    public Item get(K key, int... rest) throws IOException {
        Item item = new Item(key) { void close() { log(); } };
        return items.stream().map(Item::copy).orElse(max(size, 1));
    }

    abstract void open();

    interface Inner { int LIMIT = 3; void run(); }
    enum Color { RED, GREEN { void paint() {} } }
    record Point(int x, int y) {}
}

@interface Mark { String value() default ""; }
`;

test('types, members and packages are symbols with their documentation', async () => {
  const facts = await mined('java', source);
  expect(
    facts.symbols.map((each) => [each.signature, each.container, each.exported, each.doc]),
  ).toEqual([
    ['module:org.example.store', '', true, ''],
    [
      'class:Store | extends:Base | implements:Reader, Closeable | methods:2',
      '',
      true,
      'Keeps items.',
    ],
    ['constant:MAX | type:int', 'Store', true, 'The bound.'],
    ['constant:MIN | type:int', 'Store', true, ''],
    ['variable:size | type:int', 'Store', false, ''],
    ['method:Store | params:1 | (int size)', 'Store', true, ''],
    ['method:get | params:2 | returns:Item | (K key, int... rest)', 'Store', true, 'Gets one.'],
    ['method:close | params:0 | returns:void', 'get', false, ''],
    ['method:open | params:0 | returns:void', 'Store', false, ''],
    ['interface:Inner | methods:1', 'Store', false, ''],
    ['constant:LIMIT | type:int', 'Inner', false, ''],
    ['method:run | params:0 | returns:void', 'Inner', false, ''],
    ['enum:Color | constants:2', 'Store', false, ''],
    ['constant:RED | enum:Color', 'Color', false, ''],
    ['constant:GREEN | enum:Color', 'Color', false, ''],
    ['method:paint | params:0 | returns:void', 'Color', false, ''],
    ['class:Point | methods:0', 'Store', false, ''],
    ['interface:Mark | methods:0', '', false, ''],
    ['method:value | params:0 | returns:String', 'Mark', false, ''],
  ]);
  expect(symbolOf(facts, 'get')).toMatchObject({
    line_start: 20,
    line_end: 24,
    declaration: false,
  });
  expect(symbolOf(facts, 'open').declaration).toBe(true);
});

test('calls know their method and receiver, references and constructors too', async () => {
  const facts = await mined('java', source);
  expect(callsOf(facts)).toEqual([
    'get → Item (construct)',
    'close → this.log (member)',
    'get → items.stream (member)',
    'get → items.stream().map (member)',
    'get → Item.copy (member)',
    'get → items.stream().map(Item::copy).orElse (member)',
    'get → this.max (member)',
  ]);
  expect(facts.imports.map(({ target, names }) => `${target} ${names.join()}`)).toEqual([
    'java.util List',
    'java.lang.Math max',
    'org.example.wire *',
  ]);
});
