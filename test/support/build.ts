import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Integration tests run the compiled program: compiled from what is being tested, whoever started vitest. */
export default function setup(): void {
  execFileSync(
    process.execPath,
    [fileURLToPath(new URL('../../deploy/setup.mjs', import.meta.url))],
    { stdio: 'inherit' },
  );
}
