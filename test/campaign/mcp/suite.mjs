// The official conformance suite, with a Node that can run it: fetched by npm into a folder of their own, as none of what
// users install needs them.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const suite = '@modelcontextprotocol/conformance';
const suiteVersion = '0.2.0-alpha.12';
const nodePackage = `node-${process.platform}-${process.arch}`;
const nodeVersion = '24.21.0';
/** It uses `fs.globSync`. */
const nodeMajorMin = 22;
const runMsMax = 240_000;
const outputBytesMax = 64 * 1024 * 1024;

const run = promisify(execFile);

/** Resolves with a function that runs scenarios of one revision against a URL. */
export async function fetchedSuite() {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const folder = path.join(cache, 'sigma-bus-conformance', suiteVersion);
  const isNodeEnough = Number(process.versions.node.split('.')[0]) >= nodeMajorMin;
  const wanted = [`${suite}@${suiteVersion}`];
  if (!isNodeEnough) wanted.push(`${nodePackage}@${nodeVersion}`);
  const module = (...parts) => path.join(folder, 'node_modules', ...parts);
  const program = module(...suite.split('/'), 'dist/index.js');
  const node = isNodeEnough ? process.execPath : module(nodePackage, 'bin/node');
  if (!existsSync(program) || !existsSync(node)) {
    const flags = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', ['install', ...flags, ...wanted], { timeout: runMsMax });
  }
  const { stdout } = await run(node, ['--version']);
  const { parse } = await import('yaml');
  // What the revision requires of servers, as the suite fixed it.
  const required = (revision) =>
    parse(readFileSync(module(...suite.split('/'), `requirements/${revision}.yaml`), 'utf8'))
      .server;
  return { version: suiteVersion, node: stdout.trim(), checks: checksOf(node, program), required };
}

/** Checks by scenario, of those that the revision has. */
function checksOf(node, program) {
  return async ({ url, revision, scenarios }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sigma-conformance-'));
    try {
      const each =
        scenarios.length === 0 ? [['--suite', 'all']] : scenarios.map((one) => ['--scenario', one]);
      for (const which of each) {
        const args = [program, 'server', '--url', url, ...which];
        // A scenario of an extension has no revision.
        if (!which[1].startsWith('tasks-')) args.push('--spec-version', revision);
        // It ends with 1 where a check fails, and says which in its files.
        await run(node, [...args, '--output-dir', folder], {
          timeout: runMsMax,
          maxBuffer: outputBytesMax,
        }).catch((error) => {
          if (error.killed === true) throw error;
        });
      }
      return readChecks(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

function readChecks(folder) {
  const found = new Map();
  for (const name of readdirSync(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1];
    const file = path.join(folder, name, 'checks.json');
    if (scenario !== undefined && existsSync(file))
      found.set(scenario, JSON.parse(readFileSync(file, 'utf8')));
  }
  return found;
}
