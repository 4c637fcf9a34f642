import { curveHarness, mixedHarness } from '../support/networks.js';
import { transportContract } from './transport.js';

transportContract('zeromq over tcp with CURVE', curveHarness);
transportContract('zeromq over ipc and tcp at once', mixedHarness);
