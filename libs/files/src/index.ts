export { type FilesConfig, filesSettings } from './files.config.js';
export { FilesModule } from './files.module.js';
export { FilesService } from './files.service.js';
