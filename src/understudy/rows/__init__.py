"""Private rows and the engines that count them. What is here leaves through the Curator alone."""
