import { spawn } from 'node:child_process';
import type { Config } from '../src/config/config.js';
import type { Failure } from '../src/errors/bus-error.js';
import { argumentsOf, program } from './program.js';

/** A child that got SIGTERM and does not end is killed. */
const endMsMax = 5_000;
/** Of what it prints: a failure is short. */
const printedCharsMax = 16_384;

/**
 * Makes overlays of a tree by `sigma overlay generate`, in a process of its own, which gives its memory back. Resolves
 * when that has ended, with what it failed of. A signal ends it.
 */
export function generateOverlays(
  config: Config,
): (root: string, layers: string, signal: AbortSignal) => Promise<Failure | undefined> {
  return (root, layers, signal) => {
    const args = ['overlay', 'generate', '--repo', root, '--layers', layers, '--json'];
    const child = spawn(process.execPath, [program, ...args, ...argumentsOf(config)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (printed.length < printedCharsMax) printed += text;
    });
    let killing: NodeJS.Timeout | undefined;
    const end = (): void => {
      child.kill();
      killing = setTimeout(() => child.kill('SIGKILL'), endMsMax);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return new Promise((resolve) => {
      const over = (failure: Failure | undefined): void => {
        clearTimeout(killing);
        signal.removeEventListener('abort', end);
        resolve(failure);
      };
      child.once('error', ({ message }) => over(childFailed(message)));
      child.once('close', (code) =>
        over(code === 0 ? undefined : (failureIn(printed) ?? childFailed(`exit code ${code}`))),
      );
    });
  };
}

const childFailed = (text: string): Failure => ({ code: 'CHILD_FAILED', text, retryable: true });

/** In the document that a failed command prints. */
function failureIn(printed: string): Failure | undefined {
  try {
    return (JSON.parse(printed) as { error?: Failure }).error;
  } catch {
    return undefined;
  }
}
