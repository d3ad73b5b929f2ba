export { RuntimesModule } from './runtimes.module.js';
export { RuntimesService } from './runtimes.service.js';
