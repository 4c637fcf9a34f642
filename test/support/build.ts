import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Compiles the program before the first test. Tests import the compiled files. */
export default function setup(): void {
  execFileSync(
    process.execPath,
    [fileURLToPath(new URL('../../deploy/setup.mjs', import.meta.url))],
    { stdio: 'inherit' },
  );
}
