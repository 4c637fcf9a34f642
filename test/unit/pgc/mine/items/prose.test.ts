import { describe, expect, test } from 'vitest';
import { isHowTo, isTelling, overviewOf } from '../../../../../src/pgc/mine/items/prose.js';

describe('a section tells what something is for', () => {
  test.each([
    'OMFS is a filesystem created by SonicBlue for use in the ReplayTV DVR.',
    'It allocates.',
    'ring_push adds a value; see below.',
    'The permission is asked for in terms of user ids, and this file is used for it.',
    'Driver supports dualhead with some limitations: the head shares memory.',
    '通用中断处理层是为了给设备驱动程序提供一个完整的中断处理抽象。',
  ])('%s', (doc) => expect(isTelling(doc)).toBe(true));
});

describe('a section tells nothing', () => {
  test.each([
    ['a table of contents', '- Devlink info - Devlink parameters - Bridge offload'],
    ['a list behind a word', 'Flavors: - PXA21x, PXA25x, PXA26x - Application processor only.'],
    ['fields', 'Supported chips: * Maxim DS2490 based Author: Somebody'],
    ['code', ':: struct kvm_dirty_tlb { __u64 bitmap; };'],
    ['what to do', 'Run make menuconfig and choose the driver.'],
    ['what you have to do', 'You will need GNU make 3.82 or later to build the kernel.'],
    ['what to do to reach something', 'To check the platform, execute the following tool.'],
    ['a licence', 'This program is free software; you can redistribute it.'],
    ['an address', 'Please write to somebody@example.org.'],
    ['one word', 'Enum.'],
    ['a list of files', '该API在以下内核代码中: drivers/of/base.c'],
    ['nothing', ''],
  ])('%s', (_what, doc) => expect(isTelling(doc)).toBe(false));
});

test('headings announce what to do, lists, or the text itself', () => {
  const howTo = [
    ...['Contents', 'Table of contents', 'Usage', 'How to turn on 6pack support:', 'See also'],
    ...['Installation', 'Building the module', 'Module parameters', 'Copyright', 'Changelog'],
    ...['Return Value', 'sysfs entries', 'Adding new algorithms', 'Verifying that it works'],
  ];
  const telling = ['Design', 'The block manager', 'Locking rules', 'Slave windows', 'Description'];
  expect(howTo.filter((title) => !isHowTo(title))).toEqual([]);
  expect(telling.filter((title) => isHowTo(title))).toEqual([]);
});

describe('the comment of a file says', () => {
  test('what it is, without licence and authors', () => {
    expect(
      overviewOf(`/*
 * powermate.c - A driver for the PowerMate dial.
 *
 * Copyright (c) 2002 Somebody <some@example.org>
 * This file is subject to the terms and conditions of the GNU General Public
 * License.
 *
 * The dial reports its rotation.
 * Written by: Somebody Else
 */`),
    ).toBe('powermate.c - A driver for the PowerMate dial. The dial reports its rotation.');
  });

  test('what it is, where the licence follows at once', () => {
    const comment = '/*\n * Stack traces for Microblaze.\n * Licensed under the GPL-2.\n */';
    expect(overviewOf(comment)).toBe('Stack traces for Microblaze.');
  });

  test.each([
    ['a licence alone', '/*\n * This file is released under the GPL.\n */'],
    [
      'where it is from',
      '/* fs/f2fs/xattr.c\n * Portions of this code from linux/fs/ext2/xattr.c\n */',
    ],
    [
      'whom to write to',
      '/*\n * Contact: support@example.com\n * Please include "X" in the subject.\n */',
    ],
    ['its own name', '/* drivers/net/dev.c */'],
    ['how it changed', '/*\n * Changes:\n * 1.2 mended\n */'],
  ])('nothing: %s', (_what, comment) => expect(overviewOf(comment)).toBe(''));
});
