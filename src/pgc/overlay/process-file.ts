import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { writeAtomically } from '../format/container/segment-file.js';

/** The process that wrote a file. */
interface Author {
  pid: number;
  /** Start time of the process, because process ids are reused. */
  began: string;
}

/** Writes a JSON file that is valid as long as this process runs. Throws STORE_UNAVAILABLE. */
export async function writeProcessFile(path: string, content: object): Promise<void> {
  const { pid } = process;
  const text = JSON.stringify({ ...content, pid, began: beganOf(pid) });
  await writeAtomically(path, [Buffer.from(text)]);
}

/** Undefined when the file is absent or damaged, or the process that wrote it has ended. */
export async function readProcessFile<Content extends Author>(
  path: string,
  schema: () => z.ZodType<Content>,
): Promise<Content | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text === '') return undefined;
  try {
    const content = schema().parse(JSON.parse(text));
    return isRunning(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function isRunning({ pid, began }: Author): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs under another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return beganOf(pid) === began;
}

/** Start time of a process in clock ticks since boot (field 22 of `stat`); empty on systems without /proc. */
function beganOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, in brackets, may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
