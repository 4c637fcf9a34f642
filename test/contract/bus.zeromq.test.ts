import { zeromqHarness } from '../support/networks.js';
import { busContract } from './bus.js';

busContract('zeromq', zeromqHarness);
