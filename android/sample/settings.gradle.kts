// SPDX-License-Identifier: Apache-2.0
pluginManagement { repositories { google(); mavenCentral() } }

dependencyResolutionManagement { repositories { google(); mavenCentral() } }
