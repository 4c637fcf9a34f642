import { userInfo } from 'node:os';

/** Name of the user of this process; in a container a user may have a number only. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
