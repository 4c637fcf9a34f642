import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { BusError } from '../errors/bus-error.js';
import { topicsSuffix } from './address.js';

/** sockaddr_un holds 108 bytes with its NUL; the topics socket adds a suffix to the bus socket's name. */
const socketPathBytesMax = 107;

/**
 * Makes the folder of an `ipc://` address when it is missing (mode 0700) and checks it. The folder is the
 * protection: ZeroMQ creates the socket itself with the umask's mode. Throws SOCKET_PATH.
 */
export function prepareIpcFolder(address: string): void {
  const folder = path.dirname(ipcPath(address));
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  checkIpcFolder(address);
}

/**
 * For both sides: a folder that another user owns or may enter may hold a foreign socket. A missing folder is
 * fine: no broker listens there. Throws SOCKET_PATH.
 */
export function checkIpcFolder(address: string): void {
  const folder = path.dirname(ipcPath(address));
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) throw refuse(`${folder} is not a folder`);
  if ((stat.mode & 0o077) !== 0) throw refuse(`${folder} is open to others; its mode must be 0700`);
  // Root may use the broker of a service, but not in a place where any user could have made the folder.
  const user = process.getuid?.() ?? 0;
  const isShared = (lstatSync(path.dirname(folder)).mode & 0o002) !== 0;
  if (stat.uid !== user && (user !== 0 || isShared))
    throw refuse(`${folder} belongs to another user`);
}

/** Throws SOCKET_PATH when it is not an ipc address, relative or too long. */
export function ipcPath(address: string): string {
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  if (!address.startsWith('ipc://')) throw refuse('it is neither ipc:// nor tcp://');
  const file = address.slice('ipc://'.length);
  if (!path.isAbsolute(file)) throw refuse('the path is not absolute');
  const bytes = Buffer.byteLength(file) + (file.endsWith(topicsSuffix) ? 0 : topicsSuffix.length);
  if (bytes > socketPathBytesMax)
    throw refuse(`the path has ${bytes} bytes with its suffix, ${socketPathBytesMax} are possible`);
  return file;
}
