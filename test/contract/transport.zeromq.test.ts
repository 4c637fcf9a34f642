import { zeromqHarness } from '../support/networks.js';
import { transportContract } from './transport.js';

transportContract('zeromq over ipc', zeromqHarness);
