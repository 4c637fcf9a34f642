import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { indexFolder, type IndexRequest } from '../../../../../src/pgc/build/index-folder.js';
import {
  readRules,
  ruleCallsMax,
  rulesMax,
  ruleFileBytesMax,
} from '../../../../../src/pgc/mine/items/rule-file.js';
import { shippedRules } from '../../../../../src/pgc/mine/items/rules-in-force.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const rawQuery = {
  ...{ id: 'raw-query', languages: ['python'], calls: ['raw_query'] },
  ...{ severity: 'high', cwe: 'CWE-89', text: 'asks the database in words of others' },
};
const copies = {
  ...{ id: 'unbounded-copy', languages: ['c'], calls: ['my_copy'], unless: 'sizeof' },
  ...{ severity: 'critical', cwe: 'CWE-120', text: 'copies as ours do' },
};
const read = (file: unknown) => readRules(Buffer.from(JSON.stringify(file)));

describe('a rule file', () => {
  test('adds rules', () => {
    const { rules, off, digests } = read({ rules: [rawQuery] });
    expect(rules.slice(0, -1)).toEqual(shippedRules.rules);
    expect(rules.at(-1)).toEqual({ ...rawQuery, origin: '.sigma/security.json' });
    expect(off).toEqual([]);
    // Nothing is said of other languages.
    expect(Object.keys(digests)).toEqual(['python']);
  });

  test('that says nothing changes nothing', () => {
    expect(read({})).toEqual(shippedRules);
  });

  test('takes the place of shipped rules of the same name, in its languages', () => {
    const { rules, digests } = read({ rules: [copies] });
    const named = rules.filter(({ id }) => id === 'unbounded-copy');
    expect(named.filter(({ languages }) => languages.includes('c'))).toEqual([
      { ...copies, origin: '.sigma/security.json' },
    ]);
    expect(named.some(({ languages }) => languages.includes('cpp'))).toBe(true);
    expect(Object.keys(digests)).toEqual(['c']);
  });

  test('switches rules off, in all languages or in some', () => {
    const { rules, off } = read({
      off: ['unbounded-copy', { id: 'unbounded-format', languages: ['c'] }, 'surface-http'],
    });
    const languagesOf = (id: string) =>
      new Set(rules.filter((rule) => rule.id === id).flatMap(({ languages }) => languages));
    expect(languagesOf('unbounded-copy')).toEqual(new Set());
    expect(languagesOf('unbounded-format')).toEqual(new Set(['cpp']));
    expect(off).toContain('python/surface-http');
    expect(off).not.toContain('c/surface-http');
  });

  test('has a digest that says whether it is another', () => {
    const [first, same, other] = [
      read({ rules: [copies] }),
      read({ rules: [{ ...copies }], off: [] }),
      read({ rules: [{ ...copies, severity: 'low' }] }),
    ];
    expect(first.digests).toEqual(same.digests);
    expect(first.digests.c).not.toBe(other.digests.c);
  });

  test('that is wrong is refused with the place', () => {
    const wrong: [unknown, string][] = [
      [{ rule: [] }, 'top level: Unrecognized key: "rule"'],
      [{ rules: [{ ...copies, severity: 'bad' }] }, 'rules[0].severity: '],
      [{ rules: [rawQuery, { ...copies, cwe: '120' }] }, 'rules[1].cwe: CWE-120 for example'],
      [{ rules: [{ ...copies, languages: ['cobol'] }] }, 'rules[0].languages[0]: '],
      [{ rules: [{ ...copies, calls: [] }] }, 'rules[0].calls: '],
      [
        { rules: [{ ...copies, when: '(a' }] },
        'rules[0].when: the pattern cannot be used: a bracket that nothing closes, at character 1',
      ],
      [{ rules: [{ ...copies, id: 'Copy' }] }, 'rules[0].id: lower case letters'],
      [{ rules: new Array(rulesMax + 1).fill(copies) }, 'rules: Too big'],
      [{ rules: [{ ...copies, id: 'secret' }] }, 'rules[0].id: secret looks for a text'],
      [
        { rules: [{ ...copies, id: 'surface-http', languages: ['python'] }] },
        'rules[0].id: surface-http looks for a text',
      ],
      [
        {
          rules: new Array(11).fill({
            ...copies,
            calls: Array.from({ length: 500 }, (_, i) => `f${i}`),
          }),
        },
        `rules: they name 5500 calls, and may name ${ruleCallsMax}`,
      ],
      [{ off: ['unbounded'] }, 'off[0]: no shipped rule is called unbounded'],
      [
        { off: [{ id: 'unbounded-copy', languages: ['python'] }] },
        'off[0].languages: no shipped rule unbounded-copy is for python',
      ],
      [
        { rules: [copies], off: ['unbounded-copy'] },
        'rules[0].id: unbounded-copy is given, and switched off as well',
      ],
    ];
    for (const [file, detail] of wrong)
      expect(() => read(file), detail).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: expect.stringContaining(`.sigma/security.json: ${detail}`),
        }),
      );
    expect(() => readRules(Buffer.from('{"rules": [}'))).toThrow(/security\.json: .*JSON/);
    expect(() => readRules(Buffer.alloc(ruleFileBytesMax + 1, ' '))).toThrow(/262145 bytes/);
  });
});

describe('an index of a tree with rules of its own', () => {
  const sources = {
    'a.c': 'void f(char *b)\n{\n\tmy_copy(b, g());\n\tmy_copy(b, sizeof b);\n\tstrcpy(b, c);\n}\n',
    'a.py': 'def f(q):\n    raw_query(q)\n',
  };
  const ruled = (rules: object[]) => ({ '.sigma/security.json': JSON.stringify({ rules }) });

  async function bench(files: Record<string, string>) {
    const tree = await TemporaryTree.create(files);
    const home = await TemporaryTree.create();
    return {
      tree,
      index: (more: Partial<IndexRequest> = {}) =>
        indexFolder({ root: tree.root, home: home.root, jobs: 0, ...more }),
      found: async () => {
        const { overlay } = await openIndex(tree.root, home.root);
        const files = await overlay('O2');
        return files.flatMap((file) =>
          [...file.items()].map((item) => `${item.file_path}:${item.line_start} ${item.text}`),
        );
      },
      version: async () => {
        const { manifest } = await openIndex(tree.root, home.root);
        return manifest.shards[0]?.overlays.O2?.version;
      },
      [Symbol.asyncDispose]: async () => {
        await tree[Symbol.asyncDispose]();
        await home[Symbol.asyncDispose]();
      },
    };
  }
  const shipped = ['a.c:5 strcpy copies without a bound'];

  test('follows the file, mines only what it speaks of, and knows what it mined before', async () => {
    await using at = await bench(sources);
    expect((await at.index()).files_mined).toBe(2);
    expect(await at.found()).toEqual(shipped);
    const plain = await at.version();
    await at.tree.write(ruled([copies]));
    expect((await at.index()).files_mined).toBe(1);
    expect(await at.found()).toEqual(['a.c:3 my_copy copies as ours do']);
    expect(await at.version()).toMatch(new RegExp(`^${plain}\\+[0-9a-f]{8}$`));
    await at.tree.write(ruled([rawQuery]));
    expect((await at.index()).files_mined).toBe(1);
    expect(await at.found()).toEqual([
      ...shipped,
      'a.py:2 raw_query asks the database in words of others',
    ]);
    await at.tree.write({ '.sigma/security.json': '{}' });
    expect((await at.index()).files_mined).toBe(0);
    expect(await at.found()).toEqual(shipped);
    expect(await at.version()).toBe(plain);
    await at.tree.write(ruled([copies]));
    expect((await at.index()).files_mined).toBe(0);
    expect(await at.found()).toEqual(['a.c:3 my_copy copies as ours do']);
  });

  test('reads the file of the revision that is asked for', async () => {
    await using at = await bench({ ...sources, ...ruled([copies]) });
    const first = at.tree.commit('with our rules');
    await at.tree.write({ '.sigma/security.json': '{}' });
    at.tree.commit('without');
    await at.tree.write({ '.sigma/security.json': 'not yet written' });
    await at.index({ asOf: first });
    expect(await at.found()).toEqual(['a.c:3 my_copy copies as ours do']);
    await at.index({ asOf: 'HEAD' });
    expect(await at.found()).toEqual(shipped);
    await expect(at.index()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('may be one long line, in the tree and in a revision; a name that is repeated counts once', async () => {
    const rules = Array.from({ length: 100 }, (_, i) => ({ ...rawQuery, id: `query-${i}` }));
    const twice = { ...copies, calls: ['my_copy', 'my_copy'] };
    await using at = await bench({ ...sources, ...ruled([...rules, twice]) });
    const commit = at.tree.commit('a long line');
    const expected = ['a.c:3 my_copy copies as ours do'];
    const inC = async () => (await at.found()).filter((each) => each.startsWith('a.c'));
    await at.index();
    expect(await inC()).toEqual(expected);
    expect(await at.found()).toHaveLength(101);
    await at.tree.write({ '.sigma/security.json': '{}' });
    await at.index({ asOf: commit });
    expect(await inC()).toEqual(expected);
  });

  test('is not begun with a file that is wrong, or not a file', async () => {
    await using at = await bench({ ...sources, '.sigma/security.json': '{"off": 1}' });
    const progress: unknown[] = [];
    const onProgress = (each: unknown) => progress.push(each);
    await expect(at.index({ onProgress })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('.sigma/security.json: off: '),
    });
    expect(progress).toEqual([]);

    await using linked = await bench(sources);
    await mkdir(join(linked.tree.root, '.sigma'));
    await symlink('/etc/hostname', join(linked.tree.root, '.sigma/security.json'));
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('symbolic link') };
    await expect(linked.index()).rejects.toMatchObject(refused);
    linked.tree.commit('a link');
    await expect(linked.index({ asOf: 'HEAD' })).rejects.toMatchObject(refused);
  });
});
