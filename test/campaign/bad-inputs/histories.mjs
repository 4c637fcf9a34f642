// Repositories that are less, or more, than a plain one.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `{ name, run }`, as in contents.mjs. */
export const histories = [
  {
    name: 'a repository without a commit',
    async run(at) {
      at.git('init', '-q');
      await at.indexesTheRest();
      at.coded(await at.index('--as-of', 'HEAD'), 'USAGE', 2);
    },
  },
  { name: 'a shallow clone', run: shallow },
  {
    name: 'HEAD points to nowhere',
    async run(at) {
      at.commitAll();
      at.write({ '.git/HEAD': 'ref: refs/heads/nowhere\n' });
      await at.indexesTheRest();
      at.write({ '.git/HEAD': 'nonsense\n' });
      const { output } = await at.indexesTheRest();
      at.claim('it says that git was of no help', /git cannot list/.test(output), output);
    },
  },
  { name: 'objects are missing', run: missingObjects },
  {
    name: 'the index of git is damaged',
    async run(at) {
      at.write({ '.gitignore': 'src/ignored.c\n', 'src/ignored.c': 'int ignored;\n' });
      at.commitAll();
      writeFileSync(at.at('.git/index'), 'DIRC is what it should begin with');
      const { output } = await at.indexesTheRest();
      at.claim('it says that git was of no help', /git cannot list/.test(output), output);
    },
  },
  {
    name: '.git is a file that points out of the tree',
    async run(at) {
      at.commitAll();
      const outside = path.join(at.folder, 'outside.git');
      renameSync(at.at('.git'), outside);
      at.write({ '.git': `gitdir: ${outside}\n` });
      await at.indexesTheRest();
      at.write({ '.git': 'gitdir: /nowhere/at/all\n' });
      const { output } = await at.indexesTheRest();
      at.claim('it says that git was of no help', /git cannot list/.test(output), output);
    },
  },
  {
    name: 'a configuration of git that would run programs',
    async run(at) {
      at.commitAll();
      const trap = `touch ${path.join(at.folder, 'was-run')}; false`;
      for (const key of ['core.fsmonitor', 'core.sshCommand', 'diff.external', 'core.pager'])
        at.git('config', key, trap);
      at.git('config', 'filter.trap.clean', trap);
      at.write({ '.gitattributes': '*.c filter=trap diff=trap\n' });
      await at.indexesTheRest();
      at.claim('none was run', !readdirSync(at.folder).includes('was-run'), 'one was run');
    },
  },
  { name: 'a submodule, without and with its content', run: submodule },
  { name: 'a repository in the repository', run: nested },
  { name: 'a second work tree', run: workTree },
  { name: 'a bare repository', run: bare },
  {
    name: 'names that differ in case alone',
    async run(at) {
      at.write({ 'src/Case.c': 'int upper;\n', 'src/case.c': 'int lower;\n', 'SRC/case.c': '' });
      at.commitAll();
      const { output } = await at.indexesTheRest();
      at.claim('all of them are there', /^4 files, /m.test(output), output);
    },
  },
];

async function shallow(at) {
  at.commitAll('first');
  at.write({ 'src/second.c': 'int second;\n' });
  at.commitAll('second');
  const clone = path.join(at.folder, 'clone');
  at.git('clone', '-q', '--depth', '1', `file://${at.root}`, clone);
  rmSync(at.root, { recursive: true });
  renameSync(clone, at.root);
  const { output } = await at.indexesTheRest();
  at.claim('it says that the history is not complete', /history.*shallow/.test(output), output);
  const { history } = JSON.parse((await at.sigma('index', at.root, '--json')).stdout);
  const isTold = history.is_complete === false && history.why !== '';
  at.claim('is_complete is false, with why', isTold, JSON.stringify(history));
}

async function missingObjects(at) {
  at.write({ 'src/gone.c': 'int gone_from_git(void) { return 1; }\n' });
  at.commitAll();
  const commit = at.git('rev-parse', 'HEAD').trim();
  const remove = (id) => rmSync(at.at(`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`));
  const blob = at.git('rev-parse', 'HEAD:src/gone.c').trim();
  remove(blob);
  await at.indexesTheRest();
  const revision = await at.index('--as-of', 'HEAD', '--left-out');
  at.claim(
    'as of that commit the file is listed as unreadable',
    revision.code === 0 && /"src\/gone\.c"\s+unreadable/.test(revision.output),
    revision.output,
  );
  remove(at.git('rev-parse', 'HEAD^{tree}').trim());
  const { output } = await at.indexesTheRest();
  at.claim('it says that the history is broken', /history.*git/.test(output), output);
  at.coded(await at.index('--as-of', commit), 'REPO_UNREADABLE');
  await at.answers('the index before');
}

async function submodule(at) {
  const library = path.join(at.folder, 'library');
  execFileSync('mkdir', [library]);
  writeFileSync(path.join(library, 'lib.c'), 'int in_submodule(void) { return 1; }\n');
  at.commitAll('library', library);
  at.commitAll();
  at.git('submodule', '--quiet', 'add', `file://${library}`, 'lib');
  at.commitAll('with a submodule');
  at.git('submodule', '--quiet', 'deinit', '-f', 'lib');
  const without = await at.indexesTheRest();
  at.claim('it is listed', /"lib"\s+repository of its own/.test(without.output), without.output);
  at.git('submodule', '--quiet', 'update', '--init');
  const having = await at.indexesTheRest();
  at.claim('with content too', /"lib"\s+repository of its own/.test(having.output), having.output);
  const inside = await at.sigma('index', at.at('lib'));
  at.claim('it can be indexed by itself', inside.code === 0, inside.output);
  const revision = await at.index('--as-of', 'HEAD', '--left-out');
  const isListed = /"lib"\s+repository of its own/.test(revision.output);
  at.claim('and as of a commit', revision.code === 0 && isListed, revision.output);
}

async function nested(at) {
  at.write({ 'inner/a.c': 'int inner_thing;\n' });
  at.commitAll('inner', at.at('inner'));
  at.commitAll();
  at.git('rm', '-q', '--cached', 'inner');
  const { output } = await at.indexesTheRest();
  at.claim('it is listed', /"inner"\s+repository of its own/.test(output), output);
}

async function workTree(at) {
  at.write({ '.gitignore': 'out/\n' });
  at.commitAll();
  const second = path.join(at.folder, 'second');
  at.git('worktree', 'add', '-q', '-b', 'other', second);
  writeFileSync(path.join(second, 'src/other.c'), 'int other_branch(void) { return 1; }\n');
  execFileSync('mkdir', [path.join(second, 'out')]);
  writeFileSync(path.join(second, 'out/o.c'), 'int ignored;\n');
  const { output } = await at.sigma('index', second);
  at.claim('it is indexed as git sees it', /^2 files, /m.test(output), output);
  await at.answers('the second work tree', second);
  const found = await at.sigma('callers', 'other_branch', '--repo', second);
  at.claim('with what is new there', found.output.includes('other.c:1'), found.output);
  await at.indexesTheRest();
}

async function bare(at) {
  at.commitAll();
  const clone = path.join(at.folder, 'tree.git');
  at.git('clone', '-q', '--bare', '.', clone);
  rmSync(at.root, { recursive: true });
  renameSync(clone, at.root);
  const { code, output } = await at.index();
  const isTold = code === 1 && /\(REPO_(?:EMPTY|UNREADABLE)\)/.test(output);
  at.claim('without --as-of there is nothing to read', isTold && /--as-of/.test(output), output);
  const ran = await at.index('--as-of', 'HEAD', '--left-out');
  at.claim('as of a commit the run ends with 0', ran.code === 0, ran.output);
  const found = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  const isFound = /sentinel\.c:9\s+gate_open/.test(found.stdout);
  at.claim('its commit is answered from', isFound, found.output);
  appendFileSync(path.join(at.root, 'config'), '[broken\n');
  at.coded(await at.index('--as-of', 'HEAD'), 'REPO_UNREADABLE');
  const kept = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  at.claim('the index before is still served', kept.code === 0, kept.output);
}
