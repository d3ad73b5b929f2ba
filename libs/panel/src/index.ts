export { PanelModule } from './panel.module.js';
