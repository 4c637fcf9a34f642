import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { BusError } from '../errors/bus-error.js';

/** sockaddr_un holds 108 bytes with its NUL; the topics socket adds a suffix to the bus socket's name. */
const socketPathBytesMax = 107;
const topicsSuffix = '.topics';

export function topicsAddressOf(busAddress: string): string {
  return `${busAddress}${topicsSuffix}`;
}

/**
 * The path of an `ipc://` address, checked: short enough, absolute, in a folder of ours that nobody
 * else can enter (created 0700 when missing). The folder is the protection: ZeroMQ creates the socket
 * itself with the umask's mode. Throws SOCKET_PATH.
 */
export function prepareIpcFolder(address: string): string {
  const file = ipcPath(address);
  const folder = path.dirname(file);
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    if (!stat.isDirectory()) throw refuse(`${folder} is not a folder`);
    if ((stat.mode & 0o077) !== 0) throw refuse(`${folder} is open to others; its mode must be 0700`);
    if (process.getuid !== undefined && stat.uid !== process.getuid()) throw refuse(`${folder} belongs to another user`);
  } catch (error) {
    if (error instanceof BusError) throw error;
    throw refuse(error instanceof Error ? error.message : String(error));
  }
  return file;
}

/** Throws SOCKET_PATH when it is not an ipc address, relative or too long. */
export function ipcPath(address: string): string {
  const refuse = (detail: string): BusError => new BusError('SOCKET_PATH', { address, detail });
  if (!address.startsWith('ipc://')) throw refuse('only ipc:// addresses are supported');
  const file = address.slice('ipc://'.length);
  if (!path.isAbsolute(file)) throw refuse('the path is not absolute');
  const bytes = Buffer.byteLength(file) + topicsSuffix.length;
  if (bytes > socketPathBytesMax) throw refuse(`the path has ${bytes} bytes with its suffix, ${socketPathBytesMax} are possible`);
  return file;
}
