import { describe, expect, test } from 'vitest';
import type { FactsLanguage } from '../../../../../src/pgc/format/facts.js';
import { mined } from '../../../../support/miners/mined.js';

const found = async (language: FactsLanguage, source: string): Promise<unknown[]> =>
  (await mined(language, source)).items
    .filter(({ overlay }) => overlay === 5)
    .map(({ rule, line_start, line_end, text }) => [rule, line_start, line_end, text]);

describe('documents', () => {
  test('numbered steps that tell somebody what to do', async () => {
    const text = `1) First, load the module.
2) You must mount the file system:

     mount -t orangefs tcp://localhost /mnt

3) \`Wait\` some time.
4. the device is now in use
`;
    expect(await found('rst', text)).toEqual([
      ['command', 4, 4, 'mount -t orangefs tcp://localhost /mnt'],
      [
        'procedure',
        1,
        7,
        '1. First, load the module. 2. You must mount the file system: 3. `Wait` some time. 4. the device is now in use',
      ],
    ]);
  });

  test('numbered points of a description are no procedure', async () => {
    for (const points of [
      ['Config Region', 'Scratchpad Registers', 'Doorbell Registers'],
      ['creating a file system with a device', 'creating a file system with a suid program'],
      ['set: the value is set', 'get: the value is read'],
      ['Build it.'],
    ]) {
      const text = points.map((point, at) => `${at + 1}. ${point}\n`).join('');
      expect(await found('rst', text)).toEqual([]);
    }
  });

  test('commands, and lines that begin with the same word', async () => {
    const commands = [
      'echo 56 > update_interval',
      '$ make O=/home/name/build defconfig',
      './scripts/config -e PCI',
      'git format-patch --base=auto -o outgoing/ master',
      'cd kexec-tools-VERSION',
    ];
    const others = [
      'make sure that it is there.',
      'node [shape = circle, label="Stopped"] Stopped;',
      './.config文件。',
      'node format. The node format specifies the number of huge pages',
      'install the package first,',
      'cat: no such file',
    ];
    const indented = [...commands, ...others].map((line) => `    ${line}\n`).join('');
    expect(await found('rst', `Run::\n\n${indented}`)).toEqual(
      commands.map((line, at) => ['command', at + 3, at + 3, line.replace(/^\$ /, '')]),
    );
  });

  test('a fence ends with its own mark, and a title that looks like one is none', async () => {
    const text = '````\nmake one\n```\nmake two\n````\nmake three\n~~~\nmake four\n~~~\n';
    expect(await found('markdown', text)).toEqual([
      ['command', 2, 2, 'make one'],
      ['command', 4, 4, 'make two'],
      ['command', 8, 8, 'make four'],
    ]);
    expect(await found('rst', 'First\n~~~~~\nmake one\n\nSecond\n~~~~~~\n')).toEqual([]);
  });
});

test('what a script is for, and how it wants to be called', async () => {
  const text = `#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Copyright (C) 2020 Nobody
#
# Generate a header of system calls.
# It is run by make.

usage() {
	echo >&2 "usage: $0 [--abis ABIS] INFILE" >&2
}
echo Usage:
`;
  expect(await found('shell', text)).toEqual([
    ['script', 1, 6, 'Generate a header of system calls. It is run by make.'],
    ['usage', 9, 9, 'usage: $0 [--abis ABIS] INFILE'],
  ]);
  expect(await found('shell', '#!/bin/sh\nset -e\nsetup() {\n\ttrue\n}\n')).toEqual([]);
});

describe('what the kernel is configured by', () => {
  test('parameters of modules with their type and description', async () => {
    const text = `module_param(debug, int, 0644);
MODULE_PARM_DESC(debug, "Enable debug "
		 "messages\\n");
module_param_named(level, my_level, uint, 0444);
MODULE_PARM_DESC(level, "debug output "
		 "mask");
module_param_array(ports, ushort, &count, 0400);
module_param_cb(rate, &rate_ops, &rate, 0644);
`;
    expect(await found('c', text)).toEqual([
      ['module-parameter', 1, 1, 'module parameter debug (int): Enable debug messages'],
      ['module-parameter', 4, 4, 'module parameter level (uint): debug output mask'],
      ['module-parameter', 7, 7, 'module parameter ports (ushort)'],
      ['module-parameter', 8, 8, 'module parameter rate'],
    ]);
  });

  test('a description in a macro has no text of its own', async () => {
    const text = `#define DECLARE(name, about) \\
module_param(name, uint, 0644); \\
MODULE_PARM_DESC(name, about)
static int other = "text" ? 1 : 0;
`;
    expect(await found('cpp', text)).toEqual([
      ['module-parameter', 2, 2, 'module parameter name (uint)'],
    ]);
  });

  test('files that can be read or written, not the folders of them', async () => {
    const text = `static struct ctl_table table[] = {
	{ .procname = "rate", .data = &rate, .mode = 0644,
	  .proc_handler = proc_dointvec, },
	{ .procname = "kernel", .mode = 0555, .child = table2, },
	{ }
};
void f(void)
{
	proc_create("apm", 0, NULL, &ops);
	proc_create_mount_point("openprom");
	root = debugfs_create_dir("pm", NULL);
	debugfs_create_u32("count", 0444, root, &count);
}
core_param(panic, panic_timeout, int, 0644);
`;
    expect(await found('c', text)).toEqual([
      ['boot-parameter', 14, 14, 'boot parameter panic'],
      ['sysctl', 2, 2, 'sysctl rate'],
      ['procfs', 9, 9, 'file in /proc apm'],
      ['debugfs', 12, 12, 'file in debugfs count'],
    ]);
  });
});
