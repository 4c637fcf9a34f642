import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

/** A small tree in several languages that has items in all overlays. */
const sampleTree: Record<string, string> = {
  'drivers/ring.h': [
    '#define RING_MAX 64',
    '',
    'struct ring {',
    '\tint used;',
    '};',
    '',
    'int ring_push(struct ring *ring, int value);',
    'int ring_reset(struct ring *ring);',
    '',
  ].join('\n'),
  'drivers/ring.c': [
    '/*',
    ' * Keeps what the device has sent until somebody reads it.',
    ' */',
    '#include "ring.h"',
    '',
    '/**',
    ' * ring_push - put a value into the ring',
    ' * @ring: where',
    ' * @value: what',
    ' * @flags: how',
    ' */',
    'int ring_push(struct ring *ring, int value)',
    '{',
    '\tBUG_ON(ring->used > RING_MAX);',
    '\treturn ring_store(ring, value);',
    '}',
    'EXPORT_SYMBOL(ring_push);',
    '',
    'int ring_reset(struct ring *ring)',
    '{',
    '\tring->used = 0;',
    '\treturn 0;',
    '}',
    'EXPORT_SYMBOL(ring_reset);',
    '',
    'static int ring_store(struct ring *ring, int value)',
    '{',
    '\treturn ring->used;',
    '}',
    '',
  ].join('\n'),
  'drivers/device.c': [
    '#include "ring.h"',
    '',
    'static int device_limit;',
    'module_param(device_limit, int, 0644);',
    '',
    'static void device_name(char *to, const char *from)',
    '{',
    '\tstrcpy(to, from);',
    '}',
    '',
    'static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)',
    '{',
    '\tdevice_name(0, 0);',
    '\tring_push(0, 1);',
    '\treturn 0;',
    '}',
    '',
    'static const struct file_operations device_fops = {',
    '\t.unlocked_ioctl = device_ioctl,',
    '};',
    '',
    '#ifdef CONFIG_DEVICE_TRACE',
    'static void device_unused(void)',
    '{',
    '}',
    '#endif',
    '',
  ].join('\n'),
  'drivers/Kconfig': [
    'config DEVICE',
    '\tbool "The device"',
    '\thelp',
    '\t  Say yes to have the device.',
    '',
  ].join('\n'),
  'tools/emit.c': [
    '#include "ring.h"',
    '',
    'int emit_all(void)',
    '{',
    '\tdevice_unused();',
    '\treturn ring_push(0, 2);',
    '}',
    '',
  ].join('\n'),
  'tools/report.ts': [
    "import { execSync } from 'node:child_process';",
    '',
    '/** Makes the report of one day. */',
    'export function makeReport(day: string): string {',
    '  return execSync(`cat ${day}`).toString() + total([1]);',
    '}',
    '',
    'export function total(values: number[]): number {',
    '  return values.length;',
    '}',
    '',
    'function forgotten(): string {',
    '  return process.env.REPORT_HOME ?? "";',
    '}',
    '',
    "makeReport('monday');",
    '',
  ].join('\n'),
  'tools/check.py': [
    '"""Checks what the device has written, before anybody relies on it."""',
    'import os',
    '',
    'def check_all(values):',
    '    """Requires: values is sorted."""',
    '    assert len(values) > 0',
    '    os.system("ls " + values[0])',
    '    return find_first(values)',
    '',
    'def find_first(values):',
    '    return values[0]',
    '',
  ].join('\n'),
  'tools/Makefile': 'all: report\n\nreport:\n\tnode report.js\n',
  'README.md': [
    '# The device',
    '',
    '## Overview',
    '',
    'Values come by `ring_push` and are read by check_all() once a day.',
    '',
    '## Build',
    '',
    '    make all',
    '',
    'Then call ring_flush() and makeReport.',
    '',
  ].join('\n'),
};

export interface SampleTree extends AsyncDisposable {
  tree: OpenedTree;
  root: string;
  home: string;
}

/** The tree, indexed as two shards. */
export async function openSampleTree(): Promise<SampleTree> {
  const tree = await TemporaryTree.create(sampleTree);
  const home = await TemporaryTree.create();
  const shards = [
    { alias: 'drivers', paths: ['drivers'] },
    { alias: 'rest', paths: ['tools', '.'] },
  ];
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: { shards } });
  return {
    tree: await openIndex(tree.root, home.root),
    root: tree.root,
    home: home.root,
    async [Symbol.asyncDispose]() {
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
