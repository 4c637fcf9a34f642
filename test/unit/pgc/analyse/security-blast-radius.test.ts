import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adviceFor } from '../../../../src/pgc/analyse/advice.js';
import {
  riskOf,
  securityBlastRadius,
  wideConsumers,
} from '../../../../src/pgc/analyse/security-blast-radius.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { securityRules } from '../../../../src/pgc/mine/items/security-rules.js';
import { openIndex, type OpenedTree } from '../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

const callers = Array.from(
  { length: wideConsumers + 1 },
  (_, at) => `int user_${at}(char *to) { return far_copy(to); }`,
);
const files = {
  'lib/copy.c': lines(
    'int raw_copy(char *to, char *from)',
    '{',
    '\tstrcpy(to, from);',
    '\treturn 0;',
    '}',
    'int safe(int a)',
    '{',
    '\treturn a;',
    '}',
    'int far_copy(char *to)',
    '{',
    '\tstrcat(to, to);',
    '\treturn 0;',
    '}',
  ),
  'dev/node.c': lines(
    'static long node_ioctl(int cmd)',
    '{',
    '\tcopy_from_user(cmd, cmd, 4);',
    '\treturn raw_copy(cmd, cmd);',
    '}',
    'static int node_open(int cmd)',
    '{',
    '\treturn safe(cmd);',
    '}',
    'static const struct file_operations node_ops = {',
    '\t.open = node_open,',
    '\t.unlocked_ioctl = node_ioctl,',
    '};',
  ),
  'dev/many.c': lines(...callers),
};

let source: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = { shards: ['dev', 'lib'].map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ root: source.root, home: home.root, jobs: 0, shards });
  tree = await openIndex(source.root, home.root);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

describe('a function that copies without a bound and is open to the outside', () => {
  test('has its threats, worst first, and those of its consumers', async () => {
    const { security_threats, target } = await securityBlastRadius(tree, 'raw_copy');
    expect(target).toMatchObject({ symbol: 'raw_copy', filePath: 'lib/copy.c' });
    expect(security_threats).toEqual({
      count: 2,
      threats: [
        {
          type: 'unbounded-copy',
          severity: 'high',
          cwe: 'CWE-120',
          description: 'strcpy copies without a bound',
          file_path: 'lib/copy.c',
          line: 3,
          symbol: 'lib/copy.c#raw_copy',
          depth: 0,
          direction: 'target',
        },
        {
          type: 'user-memory-read',
          severity: 'medium',
          cwe: 'CWE-20',
          description: 'copy_from_user reads user memory',
          file_path: 'dev/node.c',
          line: 3,
          symbol: 'dev/node.c#node_ioctl',
          depth: 1,
          direction: 'consumer',
        },
      ],
    });
  });

  test('has the way in, the risk that follows, and what to do with places', async () => {
    const { risk_assessment, recommendations } = await securityBlastRadius(tree, 'raw_copy');
    expect(risk_assessment).toEqual({
      severity: 'high',
      worst_threat: 'high',
      exposed: true,
      wide: false,
      reason: 'the worst weakness is high, ways in from outside: 1, consumers: 2',
      exposed_by: 1,
      data_exposure: [
        {
          surface: 'ioctl handler node_ioctl',
          rule: 'surface-ioctl',
          place: 'dev/node.c:12',
          path: ['dev/node.c#node_ioctl', 'lib/copy.c#raw_copy'],
          depth: 1,
        },
      ],
    });
    expect(recommendations).toEqual([
      'high: copy with a bound (strscpy, snprintf) and handle what does not fit (lib/copy.c:3)',
      'medium: check length and meaning of what comes from user memory, and read it once only (dev/node.c:3)',
      'exposed: treat what reaches it as hostile; the nearest way in is ioctl handler node_ioctl (dev/node.c:12)',
    ]);
  });
});

test('a structure that is open by one field does not open its other functions', async () => {
  const { risk_assessment, security_threats } = await securityBlastRadius(tree, 'safe');
  expect(security_threats.count).toBe(0);
  expect(risk_assessment).toMatchObject({ severity: 'none', exposed: false, data_exposure: [] });
});

test('many consumers alone are wide, and direct ones are counted apart', async () => {
  const { risk_assessment, blast_radius } = await securityBlastRadius(tree, 'far_copy');
  expect(blast_radius).toMatchObject({
    direct_consumers: wideConsumers + 1,
    transitive_impact: wideConsumers + 1,
    max_depth: 1,
  });
  expect(risk_assessment).toMatchObject({ severity: 'high', exposed: false, wide: true });
  const above = await securityBlastRadius(tree, 'raw_copy');
  expect(above.blast_radius).toMatchObject({ direct_consumers: 1, transitive_impact: 2 });
});

test('a file is all that it defines', async () => {
  const { target, security_threats } = await securityBlastRadius(tree, 'lib/copy.c');
  expect(target.targets.map(({ id }) => id)).toEqual([
    'lib/copy.c#raw_copy',
    'lib/copy.c#safe',
    'lib/copy.c#far_copy',
    'lib/copy.c',
  ]);
  expect(security_threats.threats.map(({ line, direction }) => [line, direction])).toEqual([
    [3, 'target'],
    [12, 'target'],
    [3, 'consumer'],
  ]);
});

test('every rule that is more than information has advice, and others repeat their own words', () => {
  const graver = securityRules.filter(({ severity }) => severity !== 'info');
  for (const rule of [...graver.map(({ id }) => id), 'secret', 'unsafe-block'])
    expect(adviceFor(rule, 'TEXT')).not.toContain('TEXT');
  expect(adviceFor('house-rule', 'opens the door')).toBe('review what it does: opens the door');
});

test('risk grows with exposure and width, as the table says', () => {
  expect(riskOf('none', false, false)).toBe('none');
  expect(riskOf('none', true, true)).toBe('low');
  expect(riskOf('low', true, true)).toBe('medium');
  expect(riskOf('medium', false, true)).toBe('medium');
  expect(riskOf('high', false, false)).toBe('medium');
  expect(riskOf('high', true, true)).toBe('critical');
  expect(riskOf('critical', false, false)).toBe('high');
});

test('an unknown symbol is refused, and so is a tree without O2', async () => {
  await expect(securityBlastRadius(tree, 'nobody')).rejects.toMatchObject({
    code: 'NO_SUCH_SYMBOL',
  });
  const manifest = structuredClone(tree.manifest);
  for (const { overlays } of manifest.shards) delete overlays.O2;
  const without = { ...tree, manifest, overlay: () => Promise.resolve([]) };
  await expect(securityBlastRadius(without, 'safe')).rejects.toMatchObject({
    code: 'OVERLAY_MISSING',
  });
});
