import { userInfo } from 'node:os';

/** Of whoever runs this process, as the system knows them; in a container they may have a number alone. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
