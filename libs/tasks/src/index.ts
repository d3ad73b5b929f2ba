export type { Lease } from './lease-rules.js';
export { SignalsService } from './signals.service.js';
export { TaskCreationService } from './task-creation.service.js';
export type { FinishHook, TaskApprovals } from './task-hooks.js';
export { TaskLeasesService } from './task-leases.service.js';
export type { TaskRecord } from './task-record.js';
export { TasksModule } from './tasks.module.js';
export { TasksService } from './tasks.service.js';
