import { expect, test } from 'vitest';
import { tcpEndpoint, topicsAddressFrom, topicsAddressOf } from '../../../src/transport/address.js';
import { z85 } from '../../../src/transport/z85.js';

test.each([
  ['ipc:///run/bus.sock', 'ipc:///run/bus.sock.topics'],
  ['tcp://0.0.0.0:7447', 'tcp://0.0.0.0:7448'],
  ['tcp://[::1]:7447', 'tcp://[::1]:7448'],
])('the topics of %s are at %s', (bus, topics) => {
  expect(topicsAddressOf(bus)).toBe(topics);
});

test.each([
  ['tcp://bus.example:7447', 'tcp://0.0.0.0:7448', 'tcp://bus.example:7448'],
  ['tcp://bus.example:7447', 'tcp://*:9000', 'tcp://bus.example:9000'],
  ['tcp://bus.example:7447', 'ipc:///run/bus.sock.topics', 'tcp://bus.example:7448'],
  ['tcp://bus.example:7447', 'tcp://evil.example:0', 'tcp://bus.example:7448'],
  ['tcp://bus.example:7447', '', 'tcp://bus.example:7448'],
  ['ipc:///run/bus.sock', 'ipc:///run/bus.sock.topics', 'ipc:///run/bus.sock.topics'],
  ['ipc:///run/bus.sock', 'tcp://0.0.0.0:7448', 'ipc:///run/bus.sock.topics'],
])('who dialled %s and is told %s subscribes at %s', (dialled, told, expected) => {
  expect(topicsAddressFrom(dialled, told)).toBe(expected);
});

test.each([
  'tcp://host',
  'tcp://host:0',
  'tcp://host:65535',
  'tcp://host:99999999',
  'tcp://:7447',
  'tcp://ho st:7447',
  'tcp://host:7447/path',
  'tcp://::1:7447',
  'udp://host:7447',
])('%s is no address of a bus', (address) => {
  expect(() => tcpEndpoint(address)).toThrow(
    expect.objectContaining({ code: 'SOCKET_PATH' }) as Error,
  );
});

test('a key is written as RFC 32 says', () => {
  expect(z85(Buffer.from('864fd26fb559f75b', 'hex'))).toBe('HelloWorld');
  expect(z85(Buffer.from('ffffffff00000000', 'hex'))).toBe('%nSc000000');
});
