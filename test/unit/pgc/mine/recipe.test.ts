import { expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../src/pgc/format/facts.js';
import { mined } from '../../../support/miners/mined.js';

const entries = async (language: FactsLanguage, source: string) =>
  (await mined(language, source)).symbols.map((each) => [
    each.kind,
    each.name,
    `${each.line_start}-${each.line_end}`,
    each.signature,
    each.doc,
  ]);

test('options of Kconfig, with prompt, type, needs and help', async () => {
  const source = `# comment
source "mm/Kconfig.debug"
menu "Memory"
config ZSWAP
	bool "Compressed cache"
	depends on SWAP
	depends on CRYPTO=y
	select ZPOOL
	help
	  A cache of pages.
	  It is fast.

menuconfig DEBUG
	tristate
endmenu
`;
  expect(await entries('kconfig', source)).toEqual([
    [
      'option',
      'CONFIG_ZSWAP',
      '4-11',
      'option:CONFIG_ZSWAP | type:bool | prompt:Compressed cache | depends:SWAP && CRYPTO=y | selects:ZPOOL',
      'A cache of pages. It is fast.',
    ],
    ['option', 'CONFIG_DEBUG', '13-14', 'option:CONFIG_DEBUG | type:tristate', ''],
  ]);
  const { imports } = await mined('kconfig', source);
  expect(imports.map(({ target }) => target)).toEqual(['mm/Kconfig.debug']);
});

test('targets of make, and what an option builds', async () => {
  const source = `CC := gcc
obj-$(CONFIG_ZSWAP) += zswap.o \\
	zpool.o
obj-y := page.o
all: build test
build: a.o
	$(CC) -o x a.o
.PHONY: all
clean::
	rm -f x
%.o: %.c
include rules.mk
`;
  expect((await entries('make', source)).map((each) => each.slice(0, 4))).toEqual([
    ['step', 'CONFIG_ZSWAP', '2-3', 'step:CONFIG_ZSWAP | builds:zswap.o zpool.o | into:obj'],
    ['target', 'all', '5-5', 'target:all | needs:build test'],
    ['target', 'build', '6-6', 'target:build | needs:a.o'],
    ['target', 'clean', '9-9', 'target:clean'],
    ['target', '%.o', '11-11', 'target:%.o | needs:%.c'],
  ]);
});

test('who looks after what', async () => {
  const source = `List of maintainers
-------------------

	P: Person

3C59X NETWORK DRIVER
M:	Ann Other <ann@example.org>
R:	Ben Else <ben@example.org>
S:	Odd Fixes
F:	drivers/net/3c59x.c

ZSWAP
S:	Orphan
F:	mm/zswap.c
`;
  expect(await entries('maintainers', source)).toEqual([
    [
      'section',
      '3C59X NETWORK DRIVER',
      '6-10',
      'section:3C59X NETWORK DRIVER | status:Odd Fixes | files:drivers/net/3c59x.c',
      '3C59X NETWORK DRIVER: odd fixes, looked after by Ann Other, Ben Else.',
    ],
    [
      'section',
      'ZSWAP',
      '12-14',
      'section:ZSWAP | status:Orphan | files:mm/zswap.c',
      'ZSWAP: orphan, looked after by nobody.',
    ],
  ]);
});

test('what settings run', async () => {
  const packaged = `{
  "name": "x",
  "scripts": {
    "build": "tsc -p .",
    "test:unit": "vitest run \\"a b\\""
  }
}
`;
  expect((await entries('settings', packaged)).map((each) => each.slice(0, 4))).toEqual([
    ['script', 'build', '4-4', 'script:build | runs:tsc -p .'],
    ['script', 'test:unit', '5-5', 'script:test:unit | runs:vitest run \\"a b\\"'],
  ]);
  const unit = '[Service]\nExecStart=/usr/bin/sigma bus\nUser=sigma\n';
  const { symbols } = await mined('settings', unit);
  expect(symbols.map(({ name, container, kind }) => [name, container, kind])).toEqual([
    ['ExecStart', 'Service', 'unit'],
    ['User', 'Service', 'unit'],
  ]);
  const ci = 'jobs:\n  a:\n    steps:\n      - run: npm test\n';
  expect((await entries('settings', ci)).map((each) => each[3])).toEqual([
    'step:run | runs:npm test',
  ]);
});

test('functions of a shell script', async () => {
  const source = 'set -e\nbuild() {\n  make\n}\nfunction clean() {\n  rm x\n}\n';
  expect((await entries('shell', source)).map((each) => each.slice(0, 3))).toEqual([
    ['function', 'build', '2-4'],
    ['function', 'clean', '5-7'],
  ]);
});
