import { memoryHarness } from '../support/networks.js';
import { busContract } from './bus.js';

busContract('memory', memoryHarness);
