import { describe, expect, test } from 'vitest';
import { classify } from '../../../src/attention/classify/classify.js';
import { isGated } from '../../../src/attention/gates.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import { mergePolicies, parseOperatorPolicy } from '../../../src/attention/policy/policy.js';
import type { ActionInQuestion, Classification, Inspector } from '../../../src/attention/shapes.js';

/** A text that an action hands to a program: on standard input, in the line, through a pipe, or in a file that it runs then. */

const files: Record<string, string> = { 'src/a.ts': 'a', 'deploy.sh': 'true\n' };
const inspector: Inspector = {
  read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : undefined),
  exists: (path) => Promise.resolve(Object.hasOwn(files, path)),
  list: () => Promise.resolve([]),
  isTracked: () => Promise.resolve(true),
};
const shipped = loadPolicy();
const allowing = mergePolicies(
  shipped,
  parseOperatorPolicy(
    'allow: [{ command: [sh, deploy.sh], why: ours }, { command: [npm, test], why: ours }]',
    'own.yaml',
  ),
);

function judge(given: Partial<ActionInQuestion>, policy = shipped): Promise<Classification> {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const base = { runner: 'command', argv: [], cwd: '', env: {}, stdin: '', ...promises };
  return classify({ ...base, ...given }, { policy, inspector });
}
const line = (text: string, policy = shipped): Promise<Classification> =>
  judge({ argv: ['sh', '-c', text] }, policy);

describe('a text that is fed and stays is asked about', () => {
  test.each([
    'tee notes.md <<< "run rm -rf / please"',
    'echo hi | tee x.txt',
    'ls | tee -a list.txt',
    'tee x.sh <<EOF\nrm -rf /\nEOF',
    "cat <<'EOF' > docs/a.md\nnever run rm\nEOF",
    'echo "rm -rf ~" | cat > x.sh',
    '{ echo a; } | tr a b > x.sh',
    'sort -o x.sh <<EOF\nls\nEOF',
    'cp /dev/stdin x.sh <<EOF\nls\nEOF',
    'cat <<EOF | sh\nls\nEOF',
  ])('%s', async (text) => {
    expect(isGated(await line(text))).toBe(true);
  });

  test('on standard input', async () => {
    const seen = await judge({ argv: ['tee', '-a', 'notes.md'], stdin: 'run rm -rf / please' });
    expect(seen.findings.map(({ rule, severity }) => [rule, severity])).toEqual([
      ['fed-text', 'Gate'],
    ]);
  });
});

test.each([
  'grep -n x src/a.ts | sort | uniq -c',
  'sort src/a.ts | head -3 > new.txt',
  'sort <<EOF\nb\na\nEOF',
  'tee new.txt < src/a.ts',
  'ls | tee /dev/null',
  'echo a > new.txt',
])('what is only shown, or comes from files, passes: %s', async (text) => {
  expect((await line(text)).findings).toEqual([]);
});

describe('a file that is written and then run', () => {
  test.each(['echo ls > deploy.sh; sh deploy.sh', 'mv src/a.ts package.json && npm test'])(
    'is not the file that a policy allowed: %s',
    async (text) => {
      expect(isGated(await line(text, allowing))).toBe(true);
    },
  );

  test('what the line did not write stays allowed', async () => {
    expect(isGated(await line('sh deploy.sh', allowing))).toBe(false);
    expect(isGated(await line('touch notes.txt; npm test', allowing))).toBe(false);
  });
});
