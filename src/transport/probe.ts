import { connect } from 'node:net';
import { isTcp, tcpEndpoint } from './address.js';
import { ipcPath } from './ipc-address.js';

/** Milliseconds without an answer after which no process listens: a network may swallow packets. */
const tcpAnswerMsMax = 3_000;

/**
 * Whether a process accepts connections there; a socket file alone may be left over from one that was
 * killed. Throws SOCKET_PATH.
 */
export function isListening(address: string): Promise<boolean> {
  return isTcp(address) ? isTcpListening(address) : isIpcListening(address);
}

function isIpcListening(address: string): Promise<boolean> {
  const file = ipcPath(address);
  return new Promise((resolve) => {
    const probe = connect(file);
    const settle = (answer: boolean) => (): void => {
      probe.destroy();
      resolve(answer);
    };
    probe.once('connect', settle(true));
    // No listener, or a socket file of a killed broker.
    probe.once('error', (error: NodeJS.ErrnoException) =>
      // Any other error, such as a full backlog, means that a process listens.
      settle(error.code !== 'ENOENT' && error.code !== 'ECONNREFUSED')(),
    );
  });
}

function isTcpListening(address: string): Promise<boolean> {
  const { host, port } = tcpEndpoint(address);
  return new Promise((resolve) => {
    const probe = connect({
      host: host === '*' ? 'localhost' : host.replace(/^\[|\]$/g, ''),
      port,
      timeout: tcpAnswerMsMax,
    });
    const settle = (answer: boolean) => (): void => {
      probe.destroy();
      resolve(answer);
    };
    probe.once('connect', settle(true));
    probe.once('timeout', settle(false));
    probe.once('error', settle(false));
  });
}
