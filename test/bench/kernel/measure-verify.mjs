import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { table } from './figures.mjs';
import { answersOf } from './measure-questions.mjs';
import { runSigma, temporaryFolder } from './process.mjs';

const invented = {
  overlay: 'O1',
  section: 'O1',
  text: '__dma_alloc (function, mm/dma-mapping.c:42)',
  content: 'void *__dma_alloc(struct device *dev, size_t size, dma_addr_t *handle)',
  similarity: 0.9,
  weight: 1,
  file_path: 'mm/dma-mapping.c',
  line_start: 42,
  line_end: 60,
  symbol: '__dma_alloc',
  blob: '0123456789abcdef0123456789abcdef01234567',
  agent: 'mm',
};

/**
 * Citations of all questions on the running lattice; then on a small tree of copies of the cited files, with an
 * index of its own, where lines are changed under citations that were true.
 */
export async function measureVerify({ root, home, check, lattice }) {
  await lattice();
  const citations = (await answersOf({ home })).flatMap((answer) =>
    answer.hops.flatMap((hop) => hop.citations),
  );
  const work = temporaryFolder('sigma-verify');
  const ownHome = path.join(work, 'home');
  const tree = path.join(work, 'linux');
  const rows = [];
  const judge = async (name, cited, args, expected) => {
    const { json, wallMs } = await runSigma(['verify', '-', '--json', ...args], {
      home: args.length > 0 ? ownHome : home,
      timeoutMs: 120_000,
      input: JSON.stringify(cited),
    });
    const results = json?.results ?? [];
    const counts = { valid: 0, stale: 0, false: 0 };
    for (const { status } of results) counts[status] += 1;
    const wrong = results.filter((verdict) => verdict.status !== expected);
    check(
      `verify: ${name} ${cited.length === 1 ? 'is' : 'are'} ${expected}`,
      results.length === cited.length && wrong.length === 0,
      JSON.stringify(wrong[0] ?? json),
    );
    rows.push({
      name,
      expected,
      citations: cited.length,
      ...counts,
      cli_ms: wallMs,
      first: results[0],
    });
    return results;
  };
  await judge('all citations of all questions', citations, [], 'valid');
  await judge('an invented citation', [invented], [], 'false');

  const target = citations.find((each) => each.line_end > each.line_start) ?? citations[0];
  const paths = [...new Set(citations.map((each) => each.file_path))];
  for (const each of paths) {
    mkdirSync(path.dirname(path.join(tree, each)), { recursive: true });
    cpSync(path.join(root, each), path.join(tree, each));
  }
  const local = ['--repo', tree];
  const indexed = await runSigma(['index', tree, '--json'], {
    home: ownHome,
    timeoutMs: 300_000,
  });
  check('verify: the copied files are indexed', indexed.code === 0, indexed.stderr);
  await judge('the same citations of copied files', citations, local, 'valid');
  const others = citations.filter((each) => each.file_path !== target.file_path);

  edit(tree, target.file_path, (lines) => {
    lines[target.line_start - 1] += ' /* changed */';
  });
  await judge('a citation of which one line was changed', [target], local, 'stale');
  await judge('the citations of the other files', others, local, 'valid');

  cpSync(path.join(root, target.file_path), path.join(tree, target.file_path));
  edit(tree, target.file_path, (lines) => void lines.unshift('/* one', ' * two', ' */'));
  const [moved] = await judge('a citation that moved three lines down', [target], local, 'stale');
  const nowAt = `${target.file_path}:${target.line_start + 3}`;
  check('verify: it says where the text is now', moved?.now_at === nowAt, moved?.now_at);

  await judge('an invented citation in the copied tree', [invented], local, 'false');
  await judge(
    'a citation of lines that hold something else',
    [{ ...target, content: invented.content, symbol: invented.symbol, blob: '' }],
    local,
    'false',
  );
  const text = table([
    ['VERIFY', 'EXPECTED', 'CITATIONS', 'VALID', 'STALE', 'FALSE', 'CLI MS'],
    ...rows.map((row) => [
      row.name,
      row.expected,
      row.citations,
      row.valid,
      row.stale,
      row.false,
      row.cli_ms.toFixed(0),
    ]),
  ]);
  return { figures: { rows }, text };
}

function edit(tree, name, change) {
  const file = path.join(tree, name);
  const lines = readFileSync(file, 'utf8').split('\n');
  change(lines);
  writeFileSync(file, lines.join('\n'));
}
