import { expect, test } from 'vitest';
import { mined } from '../../../support/miners/mined.js';

const sections = async (language: 'markdown' | 'rst' | 'text', source: string) =>
  (await mined(language, source)).symbols.map((each) => [
    each.name,
    each.container,
    `${each.line_start}-${each.line_end}`,
    each.doc,
  ]);

test('headings of Markdown are sections, those in code are not', async () => {
  const source = `# Sigma *Bus*

What it is: a [bus](x.md).
More of it.

## Use it

\`\`\`sh
# not a heading
make all
\`\`\`

Then go.

Set up
------
### Deep \`one\` ###
Text of the deep one.
`;
  expect(await sections('markdown', source)).toEqual([
    ['Sigma Bus', '', '1-4', 'What it is: a bus. More of it.'],
    ['Use it', 'Sigma Bus', '6-13', 'Then go.'],
    ['Set up', 'Sigma Bus', '15-16', ''],
    ['Deep one', 'Set up', '17-18', 'Text of the deep one.'],
  ]);
});

test('titles of reStructuredText are sections by their style, with a line above or not', async () => {
  const source = `==========
The DMA API
==========

====================
Dynamic DMA mapping
====================

:Author: Somebody

This describes the :c:func:\`dma_map\` API.

Part I
------

To get it, include \`\`<linux/dma.h>\`\`.

.. note::
   A directive is no prose.

Inner
~~~~~
x
Part II
-------
End.
`;
  expect(await sections('rst', source)).toEqual([
    ['Dynamic DMA mapping', '', '5-11', 'This describes the dma_map API.'],
    ['Part I', 'Dynamic DMA mapping', '13-19', 'To get it, include <linux/dma.h>.'],
    ['Inner', 'Part I', '21-23', 'x'],
    ['Part II', 'Dynamic DMA mapping', '24-26', 'End.'],
  ]);
});

test('a text without headings is one section, an empty one none', async () => {
  expect(await sections('text', '\n  How to build\nRun make.\n')).toEqual([
    ['How to build', '', '1-3', 'Run make.'],
  ]);
  expect(await sections('text', ' \n')).toEqual([]);
});
