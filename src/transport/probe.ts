import { connect } from 'node:net';
import { isNats, isTcp, tcpEndpoint } from './address.js';
import { ipcPath } from './ipc-address.js';

/** Milliseconds without an answer after which no process listens: a network may swallow packets. */
const tcpAnswerMsMax = 3_000;

/**
 * Whether a process accepts connections there; a socket file alone may be left over from one that was
 * killed. Of a bus on NATS: whether one of its servers does; they alone know its broker. Throws SOCKET_PATH.
 */
export async function isListening(address: string): Promise<boolean> {
  if (isTcp(address)) return isTcpListening(address);
  if (!isNats(address)) return isIpcListening(address);
  for (const server of (address.split('/')[2] ?? '').split(','))
    if (await isTcpListening(`tcp://${server}`)) return true;
  return false;
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
