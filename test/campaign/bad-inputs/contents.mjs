// Files and folders that no index should stumble over.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

const mebibyte = 1024 * 1024;
const nobody = 65_534;
const manyFiles = 50_000;
const manyBytesMax = 1_500 * mebibyte;
const nestedFolders = 640;

/** `{ name, run }`: what is bad about the tree, and the run that shows it. */
export const contents = [
  { name: 'not a repository: a folder without git', run: (at) => at.indexesTheRest() },
  {
    name: 'no folder, and a file where a folder should be',
    async run(at) {
      at.coded(await at.sigma('index', at.at('absent')), 'REPO_UNREADABLE');
      at.coded(await at.sigma('index', at.at('src/sentinel.c')), 'REPO_UNREADABLE');
    },
  },
  {
    name: 'a tree without a source file',
    async run(at) {
      execFileSync('rm', ['-r', at.at('src')]);
      at.write({ 'picture.png': Buffer.from([0x89, 0x50, 0, 1]) });
      at.coded(await at.index(), 'REPO_EMPTY');
      at.coded(await at.sigma('callers', 'x', '--repo', at.root), 'INDEX_MISSING');
    },
  },
  { name: 'symbolic links out of the root, in circles and to nowhere', run: links },
  { name: '100 MB on one line', run: oneLine },
  {
    name: 'bytes that are not UTF-8, and half of a character at the end',
    async run(at) {
      const bytes = [Buffer.from('int latin_'), Buffer.from([0xe9, 0xff, 0xc0, 0x80])];
      at.write({
        'src/latin.c': Buffer.concat([...bytes, Buffer.from('(void) { return 1; }\n')]),
        'src/half.c': Buffer.concat([
          Buffer.from('int half_there(void) { return 1; } // '),
          Buffer.from([0xe2, 0x82]),
        ]),
        'src/wide.c': Buffer.from('\ufeffint wide;\n', 'utf16le'),
      });
      const { output } = await at.indexesTheRest();
      at.claim('UTF-16 counts as binary', /"src\/wide\.c"\s+binary/.test(output), output);
      const found = await at.sigma('callers', 'half_there', '--repo', at.root);
      at.claim('what can be read of them is', found.output.includes('src/half.c:1'), found.output);
    },
  },
  { name: 'names with newlines, escapes and quotes', run: namesWithNewlines },
  { name: 'a name that is not UTF-8', run: nameOfBytes },
  {
    name: 'files of no bytes, of blanks, and without a last newline',
    async run(at) {
      at.write({ 'src/empty.c': '', 'src/blank.py': '\n\n \n', 'src/open.ts': 'const x = {' });
      const { output } = await at.indexesTheRest();
      at.claim('all four are files of the index', /^4 files, /m.test(output), output);
    },
  },
  { name: '50 000 files in one folder', run: manyInOneFolder },
  { name: 'a named pipe, a socket and a device', run: special },
  { name: 'the same, tracked by git as files', run: specialInGit },
  { name: 'folders so deep that no path leads to the bottom', run: deep },
  { name: 'a folder and a file that may not be read', run: forbidden },
  { name: 'code that kills parsers', run: hostileCode },
];

async function links(at) {
  const outside = path.join(at.folder, 'outside');
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'secret.c'), 'int outside_secret(void) { return 1; }\n');
  symlinkSync(outside, at.at('src/folder'));
  symlinkSync(path.join(outside, 'secret.c'), at.at('src/link.c'));
  symlinkSync('..', at.at('src/circle'));
  symlinkSync('nowhere.c', at.at('src/dangling.c'));
  const walked = await at.indexesTheRest();
  at.claim('links are listed', /4 symbolic link/.test(walked.output), walked.output);
  at.commitAll();
  const tracked = await at.index();
  at.claim('tracked links are listed', /symbolic link/.test(tracked.output), tracked.output);
  const asked = await at.sigma('callers', 'outside_secret', '--repo', at.root);
  const isUnknown = asked.code === 1 && asked.output.includes('NO_SUCH_SYMBOL');
  at.claim('nothing outside was read', isUnknown, asked.output);
}

async function oneLine(at) {
  at.write({
    'src/line.c': Buffer.alloc(100 * mebibyte, 'int a; '),
    'src/shorter.c': Buffer.alloc(20 * mebibyte, 'int a; '),
  });
  const { output, peakRssBytes } = await at.indexesTheRest();
  at.claim('100 MB are too large', /"src\/line\.c"\s+too large/.test(output), output);
  at.claim('20 MB count as generated', /"src\/shorter\.c"\s+generated/.test(output), output);
  const peak = Math.round(peakRssBytes / mebibyte);
  at.claim('it took less than 500 MB of memory', peak < 500, `${peak} MB`);
}

async function namesWithNewlines(at) {
  const names = ['new\nline.c', 'esc\u001b[31m.c', 'quo"te\\.c', ' .c', 'tab\t.c'];
  names.forEach((name, number) =>
    at.write({
      [`src/${name}`]: `int odd_${number}(void) { return sentinel_count(${number}); }\n`,
    }),
  );
  const walked = await at.indexesTheRest();
  at.claim('all six files are there', /^6 files, /m.test(walked.output), walked.output);
  at.commitAll();
  const tracked = await at.indexesTheRest();
  at.claim('and with git as well', /^6 files, /m.test(tracked.output), tracked.output);
  const called = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  const rows = called.stdout.trim().split('\n');
  at.claim('each caller is one line', rows.length === 8, called.stdout);
  // oxlint-disable-next-line no-control-regex
  at.claim('no terminal is told anything', !/[\u001b\t]/.test(called.stdout), called.stdout);
}

async function nameOfBytes(at) {
  const name = Buffer.concat([
    Buffer.from(at.at('src/caf')),
    Buffer.from([0xe9]),
    Buffer.from('.c'),
  ]);
  writeFileSync(name, 'int bytes_in_name;\n');
  const folder = Buffer.concat([Buffer.from(at.at('d')), Buffer.from([0xff, 0xfe])]);
  mkdirSync(folder);
  writeFileSync(Buffer.concat([folder, Buffer.from('/in.c')]), 'int in_there;\n');
  const told = (output) => (output.match(/"\s+name is not UTF-8$/gm) ?? []).length;
  const walked = await at.indexesTheRest();
  at.claim('file and folder are listed', told(walked.output) === 2, walked.output);
  at.commitAll();
  const tracked = await at.indexesTheRest();
  at.claim('and with git as well', told(tracked.output) === 2, tracked.output);
}

async function manyInOneFolder(at) {
  mkdirSync(at.at('many'));
  for (let file = 0; file < manyFiles; file += 1)
    writeFileSync(at.at(`many/f${file}.c`), `int many_${file}(void) { return ${file}; }\n`);
  const { output, peakRssBytes, wallMs } = await at.indexesTheRest();
  at.claim('all are there', output.includes(`${manyFiles + 1} files, `), output);
  const found = await at.sigma('callers', `many_${manyFiles - 1}`, '--repo', at.root);
  at.claim('the last one is found', found.output.includes('defined at'), found.output);
  const peak = Math.round(peakRssBytes / mebibyte);
  at.claim('it took less than 1 500 MB', peakRssBytes < manyBytesMax, `${peak} MB`);
  at.claim('and less than three minutes', wallMs < 180_000, `${Math.round(wallMs)} ms`);
}

async function special(at) {
  execFileSync('mkfifo', [at.at('src/pipe.c')]);
  const server = await listening(at.at('src/socket.c'));
  const wanted = ['pipe', 'socket'];
  try {
    execFileSync('mknod', [at.at('src/device.c'), 'c', '1', '5'], { stdio: 'ignore' });
    wanted.push('device');
  } catch {
    // A device needs privileges; a pipe and a socket do not.
  }
  const { output, wallMs } = await at.indexesTheRest();
  server.close();
  for (const name of wanted)
    at.claim(`a ${name} is no file`, new RegExp(`${name}\\.c"\\s+not a file`).test(output), output);
  at.claim('nothing waits for a writer', wallMs < 30_000, `${Math.round(wallMs)} ms`);
}

async function specialInGit(at) {
  at.write({ 'src/pipe.c': 'int a;\n', 'src/zero.c': 'int b;\n' });
  at.commitAll();
  execFileSync('rm', [at.at('src/pipe.c'), at.at('src/zero.c')]);
  execFileSync('mkfifo', [at.at('src/pipe.c')]);
  try {
    execFileSync('mknod', [at.at('src/zero.c'), 'c', '1', '5'], { stdio: 'ignore' });
  } catch {
    mkdirSync(at.at('src/zero.c'));
  }
  const { output, wallMs } = await at.indexesTheRest();
  at.claim('neither is read', /2 not a file/.test(output), output);
  at.claim('nothing waits for a writer', wallMs < 30_000, `${Math.round(wallMs)} ms`);
}

function listening(place) {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => resolve(server));
  });
}

async function deep(at) {
  // No call takes a path that long: two halves are made, and the second is moved to the end of the first.
  const half = 'deep_folder/'.repeat(nestedFolders / 2);
  mkdirSync(path.join(at.folder, half), { recursive: true });
  writeFileSync(path.join(at.folder, half, 'b.c'), 'int at_the_bottom;\n');
  mkdirSync(at.at(half), { recursive: true });
  execFileSync('mv', [path.join(at.folder, 'deep_folder'), at.at(half)]);
  const walked = await at.indexesTheRest();
  at.claim(
    'what is too deep is listed',
    /deep_folder.*unreadable/.test(walked.output),
    walked.output,
  );
  at.gitIn(at.root, 'init', '-q');
  const tracked = await at.indexesTheRest();
  at.claim('with git as well', tracked.code === 0, tracked.output);
}

async function forbidden(at) {
  if (process.getuid() !== 0) {
    chmodSync(at.root, 0o755);
  }
  at.write({ 'src/mine.c': 'int mine;\n', 'closed/a.c': 'int closed_a;\n' });
  chmodSync(at.at('src/mine.c'), 0);
  chmodSync(at.at('closed'), 0);
  const args = ['index', at.root, '--left-out'];
  const ran = await at.as(nobody, args);
  if (ran === undefined) return;
  at.claim('the run ends with 0', ran.code === 0, ran.output);
  at.claim('the file is listed', /"src\/mine\.c"\s+unreadable/.test(ran.output), ran.output);
  at.claim('the folder is listed', /"closed"\s+unreadable/.test(ran.output), ran.output);
  const called = await at.as(nobody, ['callers', 'sentinel_count', '--repo', at.root]);
  at.claim('everything else is answered from', called.output.includes('gate_open'), called.output);
  chmodSync(at.root, 0);
  at.coded(await at.as(nobody, args), 'REPO_UNREADABLE');
  chmodSync(at.root, 0o755);
}

async function hostileCode(at) {
  at.write({
    'src/brackets.c': `int b = ${'(\n'.repeat(100_000)}1${')\n'.repeat(100_000)};\n`,
    'src/comments.c': '/*\n'.repeat(200_000),
    'src/strings.py': '"""\n'.repeat(100_001),
    'src/deep.ts': `${'{[(\n'.repeat(20_000)}`,
    'src/define.h': Array.from({ length: 200_000 }, (_, at) => `#define M_${at} ${at}\n`).join(''),
  });
  const { output, wallMs } = await at.indexesTheRest();
  at.claim('none of them kills the run', /^6 files, /m.test(output), output);
  at.claim('it takes less than a minute', wallMs < 60_000, `${Math.round(wallMs)} ms`);
}
