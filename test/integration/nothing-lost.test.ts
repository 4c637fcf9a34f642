import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const campaign = fileURLToPath(new URL('../campaign/nothing-lost.mjs', import.meta.url));
const runMsMax = 150_000;

interface Report {
  figures: Record<string, string | number>;
  claims: { name: string; holds: boolean; detail: string }[];
}

/** The whole campaign, smaller: its broker, senders and receivers are processes of their own. */
function run(...args: string[]): Promise<Report> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [campaign, ...args, '--json'],
      { timeout: runMsMax },
      (error, stdout, stderr) => {
        // It ends with 1 when a claim does not hold, and has printed its report.
        if (stdout === '') reject(new Error(`no report: ${stderr}`, { cause: error }));
        else resolve(JSON.parse(stdout) as Report);
      },
    );
  });
}

test(
  'what was accepted is processed once and in order while broker, senders and receivers are killed',
  async () => {
    const { figures, claims } = await run('--messages', '2500', '--kills', '5', '--seed', '11');
    expect(claims.filter(({ holds }) => !holds)).toEqual([]);
    expect(claims.length).toBeGreaterThan(5);
    expect(figures).toMatchObject({ accepted: 2_500, processed: 2_500 });
  },
  runMsMax,
);
