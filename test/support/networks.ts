import path from 'node:path';
import { MemoryNetwork } from '../../src/transport/memory.js';
import { ZeromqLink, ZeromqListener } from '../../src/transport/zeromq.js';
import type { TransportHarness } from '../contract/transport.js';
import { temporaryFolder } from './temporary.js';

export function memoryHarness(): TransportHarness {
  const network = new MemoryNetwork();
  return {
    listen: () => Promise.resolve(network.listener()),
    dial: () => network.link(),
    close: () => Promise.resolve(),
  };
}

export function zeromqHarness(): TransportHarness {
  const folder = temporaryFolder();
  const address = `ipc://${path.join(folder.path, 'bus.sock')}`;
  return {
    listen: () => ZeromqListener.bind(address),
    dial: () => new ZeromqLink(address),
    close: () => {
      folder.remove();
      return Promise.resolve();
    },
  };
}
